"""Names of each kind with what is not public in them replaced: structure stays, so that who reads a name reads the same."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from rblnpb.naming import device_ordinal, parse

from ._pseudonyms import Pseudonyms
from ._public_words import CATEGORIES, CPP_WORDS, KERNEL_NAMESPACES, LABELS, OP_NAMESPACES, OP_WORDS, SETTING_NAMES, VALUES

__all__ = ["KEPT_NAMES", "RedactedNames"]

KEPT_NAMES: Final = ("annotations", "kernel-names", "layer-names", "op-names", "python-names", "thread-names")
"""Kinds of names that can be left as they are."""

_LONGEST: Final = 4096
"""A name that is longer is no name: it is replaced as a whole, before patterns spend their time on it."""
_A: Final = re.ASCII
_OP: Final = re.compile(
    rf"(?:{'|'.join(OP_NAMESPACES)})(?:::\w+)*::\w+(?:\.\w+)?|"
    r"torch\.distributed\.[\w.]+::\w+|record_param_comms|<forked function>|unknown",
    _A,
)
_BUILT_BACKWARD: Final = re.compile(r"[A-Z]\w*Backward[0-9]+|CompiledFunction(?:Backward)?", _A)
"""Only generated nodes of autograd end in a number: what a user derives from Function has none."""
_BACKWARD: Final = re.compile(r"(\w*?)(Backwards?[0-9]*)", _A)
_STRUCTURED: Final = re.compile(r"\w+(?:::\w+)+(?:\.\w+)?|\w*Backwards?[0-9]*", _A)
_BEGUN: Final = re.compile(
    r"(autograd::engine::evaluate_function: |ProfilerStep#|Optimizer\.(?:step|zero_grad)#|enumerate\(DataLoader\)#|"
    r"(?:Torch-Compiled|Dispatched) Region: |(?:gloo|nccl|mpi|ucc|xccl|hccl):)(.*)",
    re.S,
)
"""How names begin that PyTorch makes of another name."""
_OPTIMIZER: Final = "(?:Adadelta|Adafactor|Adagrad|Adam|AdamW|Adamax|ASGD|LBFGS|Muon|NAdam|RAdam|RMSprop|Rprop|SGD|SparseAdam)"
_END: Final = re.compile(
    rf"[0-9]+|!?[0-9]+/[0-9]+(?:_[0-9]+)?|{_OPTIMIZER}\.(?:step|zero_grad)|"
    r"_(?:SingleProcess|MultiProcessing)DataLoaderIter\.__next__|"
    r"_?(?:all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|send|recv|reduce|gather|scatter|barrier|coalesced)"
    r"(?:_base|_into_tensor|_tensor|_coalesced|_sparse|_single|_barrier|v)*",
    _A,
)
_RANGE: Final = re.compile(
    r"(?:Distributed)?DataParallel\.forward|Torch-Compiled Region|Dispatched Region|execute_new_[0-9]+_cached_[0-9]+", _A
)
_SERVING: Final = re.compile(r"(execute_(?:[0-9]+_)?context_[0-9]+)(\(.*?\))?(_generation_[0-9]+)(.*)", re.S)
_COUNTS: Final = re.compile(r"[0-9(),=sqk ]*", _A)
_FRAME: Final = re.compile(r"(.*)\(([0-9]+)\): (.*)", re.S)
_SITE: Final = re.compile(r"(.*):([0-9]+)(?:\((.*)\))?", re.S)
_BUILT_IN: Final = re.compile(r"<built-in (function|method) (.+?)(?: of (.+) object)?( at 0x[0-9a-fA-F]+)?>", re.S)
_MODULE: Final = re.compile(r"nn\.Module: (.*?)((?:_[0-9]+)?)", re.S)
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
_ROW: Final = re.compile(
    r"Mem(?:cpy|set) ?(?:[HDAP]to[HDAP])? ?\((?:Pageable|Pinned|Device|Host|Array|Managed|Unified|Unknown|Peer| -> )+\)|"
    r"PyTorch Profiler \(-?[0-9]+\)|rbln \(-?[0-9]+\)|rbln launch|"
    r"(?:Iteration Start|Record Window End)(?:: PyTorch Profiler|: rbln)?|"
    r"\[memory\]|process_(?:name|labels|sort_index)|thread_(?:name|sort_index)|(?:Stream Wait Event|(?:Stream|Context|Event) Sync)|"
    r"Activity Buffer Request|Buffer Flush|Instrumentation|Resource|Runtime Triggered Module Loading|Lazy Function Loading|"
    r"Command Buffer Full|submit|copy in|copy out|wait|compile|dequeue|enqueue",
    _A,
)
_CALL: Final = re.compile(r"(?:cuda|cu|hip|acl|xpu|ze)[A-Z]\w*|hsa_\w*", _A)
_TASK: Final = re.compile(
    r"((?:event|notify)_?(?:wait|record|reset)|write_value|profil(?:ing|er)_|place_?holder|memcpy|sdma|pcie_dma)(\w*)|(hcom_)(.*)",
    re.I,
)
"""Kinds of tasks on an Ascend, which their names tell, and the rest."""
_KERNEL_NUMBER: Final = re.compile(r"_k[0-9]+\Z", _A)
_WAY: Final = re.compile(r"HtoD|H2D|HostToDevice|M2D|DtoH|D2H|DeviceToHost|D2M|(?i:synchronize)")
_LAYER: Final = re.compile(r"[\w.:/-]+(?:\([\w.:/+-]*\))?[0-9_]*")
_NUMBERED: Final = re.compile(r"((?:[0-9]+_)*)(.*?)((?:_[0-9]+)*)", re.A | re.S)
_LABEL: Final = re.compile(
    r"(?:GPU|NPU|XPU|MTIA|HPU|RBLN NPU|RBLN|device|Device|rbln|npu) ?:?[0-9]+|[Ss]tream [0-9 ]+(?:Submission Queue)?|"
    r"[Tt]hread [0-9]+|pt_(?:autograd|data_worker|data_pin|inductor)_?[0-9]*|python[0-9.]*",
    _A,
)
_THREAD: Final = re.compile(r"(thread [0-9]+ \()(.*)(\))", re.S)
_PART: Final = re.compile(r"(.*?)( \(chiplet [0-9]+\))?( \([0-9]+\))?", re.S)
_DEVICE: Final = re.compile(r"(\S+?)(:[0-9]+)")
_ORDINAL: Final = re.compile(r"\b(?:rbln|npu|device)[\s:#_-]*[0-9]{1,9}\b", re.I)
_PRODUCT: Final = re.compile(
    r"(?:NVIDIA|AMD|Intel|Tesla|Quadro|GeForce|RBLN|Rebellions|Ascend)(?:[ -](?:Instinct|GeForce|Tesla|Quadro|RTX|GTX|GPU|NPU|VF|"
    r"PCIe|SXM[0-9]?|Max|Graphics|[A-Z]{0,3}[0-9]{1,6}[A-Za-z]{0,3}|DGXS|[0-9]{1,4}GB|HBM[0-9]?e?))*|rebel100|atom|rebel|atom-max",
    _A,
)
_WORDS: Final = re.compile(r"\w+")
_HIERARCHY: Final = frozenset({"TOP", "SELF", "forward", "UNKNOWN_INSTANCE", "UNKNOWN_TYPE", ""})
_TOOL: Final = re.compile(r"rblnpb(?:\.(?:sim|convert|recorder|torch))?|RBLN Profiler", _A)
_VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}(?:(?:\.?(?:dev|rc|post|a|b))[0-9]+)?", _A)
_DIGITS: Final = r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
_NUMBER: Final = re.compile(
    rf"[\[\](), ]*(?:(?:{_DIGITS}|True|False)[\[\](), ]+)*(?:{_DIGITS})?|0x[0-9a-fA-F]+|[0-9]+ bytes|-?(?:inf|nan)", _A
)


class RedactedNames:
    """What stands for the names of a trace or a profile."""

    def __init__(self, key: bytes, kept: Collection[str] = ()) -> None:
        """Choose what stays.

        Args:
            key: That pseudonyms follow from.
            kept: Of `KEPT_NAMES`.
        """
        self._pseudonyms = Pseudonyms(key)
        self._kept = frozenset(kept)
        self.number, self.counts = self._pseudonyms.number, self._pseudonyms.counts

    # --- events ------------------------------------------------------------------------------------------------------------

    def event(self, category: str, name: str) -> str:
        """The name of a trace event of a category."""
        if category in ("cpu_op", "Operator"):
            return self.op(name)
        if category == "python_function":
            return self.frame(name)
        if category.endswith("annotation") or category in ("cuda_profiler_range", "xpu_scope_profiler"):
            return self.annotation(name)
        is_public = name in CATEGORIES or (category.lower().endswith(("runtime", "driver")) and _CALL.fullmatch(name) is not None)
        return name if is_public else self.row(name)

    def op(self, name: str) -> str:
        """The name of an operator: the namespace tells whose it is."""
        if "op-names" in self._kept or _is_public_op(name):
            return name
        if begun := self._begun(name):
            return begun
        if _STRUCTURED.fullmatch(name):
            return _WORDS.sub(lambda word: self._op_word(word[0]), name)
        return self._word(name, "op") if name else ""

    def annotation(self, name: str) -> str:
        """The name of a range that somebody named; ranges of PyTorch itself and the numbers in those of a server stay."""
        if "annotations" in self._kept or name == "unknown" or _RANGE.fullmatch(name):
            return name
        if begun := self._begun(name):
            return begun
        if serving := _SERVING.fullmatch(name):
            before, detail, between, rest = serving.groups(default="")
            return before + (f"({self._counts(detail[1:-1])})" if detail else "") + between + self._counts(rest)
        return self._pseudonyms.of("annotation", name) if name else ""

    def frame(self, name: str) -> str:
        """A Python function, or a module: path, line and function, each by itself."""
        if "python-names" in self._kept or not name:
            return name
        if len(name) > _LONGEST:
            return self._function(name)
        if place := _FRAME.fullmatch(name):
            return f"{self.path(place[1])}({place[2]}): {self._function(place[3])}"
        if built_in := _BUILT_IN.fullmatch(name):
            kind, function, owner, address = built_in.groups(default="")
            of_owner = f" of {self._function(owner)} object" if owner else ""
            return f"<built-in {kind} {self._function(function)}{of_owner}{address}>"
        if module := _MODULE.fullmatch(name):
            return f"nn.Module: {self._function(module[1])}{module[2]}"
        return self._function(name)

    def stack(self, frames: str) -> str:
        """Frames of a call stack, with semicolons between them."""
        return ";".join(map(self.frame, frames.split(";")))

    def hierarchy(self, modules: str) -> str:
        """Modules around an operator, as TorchScript writes them."""
        if "python-names" in self._kept:
            return modules
        return _WORDS.sub(lambda word: word[0] if word[0] in _HIERARCHY or word[0].isdigit() else self._function(word[0]), modules)

    def row(self, name: str) -> str:
        """A slice of a device, a call of a runtime, or whatever else a trace shows."""
        if _ROW.fullmatch(name) or _is_public_op(name) or name in VALUES or _is_public_kernel(name):
            return name
        parts = parse(name)
        if parts is not None and parts.sequence is not None:
            command = name.rpartition("_")[2]
            head = name[: len(name) - len(command) - 1 - len(parts.layer)]
            return f"{head}{self.layer(parts.layer)}_{command}"
        if "kernel-names" in self._kept:
            return name
        if task := _TASK.fullmatch(name):
            kind, rest = task[1] or task[3], task[2] or task[4] or ""
            return kind + (
                rest if rest in ("", "Async", "_async") else f"{'' if kind.endswith('_') else '_'}{self.of('kernel', rest)}"
            )
        if begun := self._begun(name):
            return begun
        return self._numbered(name, "kernel")

    # --- profiles ----------------------------------------------------------------------------------------------------------

    def layer(self, name: str) -> str:
        """A layer or program; ordinals stay, and so do words that are operators."""
        return name if "layer-names" in self._kept else self._numbered(name, "layer")

    def track(self, name: str) -> str:
        """The name of a process, a thread, an engine or a row."""
        if "thread-names" in self._kept or name in LABELS or _LABEL.fullmatch(name) or _PRODUCT.fullmatch(name) or not name:
            return name
        if thread := _THREAD.fullmatch(name):
            return thread[1] + self.track(thread[2]) + thread[3]
        if name.startswith("Ascend Hardware"):
            rest = name.removeprefix("Ascend Hardware")
            return "Ascend Hardware" + (f" {self._pseudonyms.of('thread', rest)}" if rest else "")
        part = _PART.fullmatch(name)
        if part and (part[2] or part[3]):
            return self.track(part[1]) + (part[2] or "") + (part[3] or "")
        ordinal = _ORDINAL.search(name)
        return self._pseudonyms.of("thread", name) + (f" {ordinal[0]}" if ordinal else "")

    def device(self, name: str) -> str:
        """The name of a device, as a framework or a driver has it."""
        if name in LABELS or _LABEL.fullmatch(name) or _PRODUCT.fullmatch(name) or not name:
            return name
        if framework := _DEVICE.fullmatch(name):
            return (framework[1] if framework[1] in VALUES else self._pseudonyms.of("device", framework[1])) + framework[2]
        ordinal = device_ordinal(name)
        return self._pseudonyms.of("device", name) + ("" if ordinal is None else f" device {ordinal}")

    def graph(self, graph: str) -> str:
        """A compiled graph, such as "0/0"."""
        return graph if _END.fullmatch(graph) else self.of("annotation", graph)

    def path(self, path: str) -> str:
        """A file; that it is Python stays."""
        if not path or "python-names" in self._kept:
            return path
        stem = path.removesuffix(".py")
        return self._pseudonyms.of("path", stem) + path[len(stem) :]

    def site(self, place: str) -> str:
        """A place in a source: path, line, and in parentheses the function."""
        if "python-names" in self._kept or not place:
            return place
        site = _SITE.fullmatch(place)
        if site is None:
            return self.frame(place)
        function = f"({self._function(site[3])})" if site[3] else ""
        return f"{self.path(site[1])}:{site[2]}{function}"

    def setting(self, name: str, value: str) -> tuple[str, str]:
        """An environment variable and what it was set to."""
        known = name if name in SETTING_NAMES else self._pseudonyms.of("setting", name)
        return known, self.value(value)

    def tool(self, name: str, version: str) -> tuple[str, str]:
        """What wrote a profile."""
        known = name if not name or _TOOL.fullmatch(name) else self._pseudonyms.of("tool", name)
        return known, version if not version or _VERSION.fullmatch(version) else self._pseudonyms.of("version", version)

    # --- anything ----------------------------------------------------------------------------------------------------------

    def value(self, text: str) -> str:
        """A text that may be a number, or a word which everybody knows."""
        return text if is_number(text) or text in VALUES else self._pseudonyms.of("value", text)

    def identity(self, text: str) -> str:
        """An id of a process, a thread or a flow that is a text."""
        return text if is_number(text) or text in LABELS or _LABEL.fullmatch(text) else self._pseudonyms.of("id", text)

    def of(self, kind: str, text: str) -> str:
        """A text of which nothing is public; the empty text stays."""
        return self._pseudonyms.of(kind, text) if text else ""

    # --- parts -------------------------------------------------------------------------------------------------------------

    def _begun(self, name: str) -> str:
        """A name that PyTorch made of another one, or nothing."""
        begun = _BEGUN.fullmatch(name)
        if begun is None:
            return ""
        if begun[1].startswith("autograd"):
            return begun[1] + self.op(begun[2])
        if "annotations" in self._kept or _END.fullmatch(begun[2]):
            return name
        if begun[1].endswith("Region: "):
            # The graph is the first word.
            return begun[1] + re.sub(r"\S+", lambda word: self.graph(word[0]), begun[2])
        return begun[1] + self.of("annotation", begun[2])

    def _op_word(self, word: str) -> str:
        if word in OP_NAMESPACES or word.strip("_") in OP_WORDS:
            return word
        backward = _BACKWARD.fullmatch(word)
        if backward is None:
            return self._pseudonyms.of("op", word)
        return self.of("op", backward[1]) + backward[2]

    def _counts(self, text: str) -> str:
        return text if _COUNTS.fullmatch(text) else self._pseudonyms.of("annotation", text)

    def _function(self, name: str) -> str:
        """A function; where an object lay in memory stays behind its name, for it differs from call to call."""
        return self.of("name", _ADDRESS.sub("", name)) + "".join(_ADDRESS.findall(name))

    def _numbered(self, name: str, kind: str) -> str:
        """A name with the ordinals that `rblnpb.naming.family` takes off: those of every part of a fused layer."""
        if len(name) > _LONGEST or not _LAYER.fullmatch(name):
            return self._word(name, kind) if name else ""
        parts = re.split(r"([+()])", name)
        return "".join(part if place % 2 else self._part(part, kind) for place, part in enumerate(parts))

    def _part(self, part: str, kind: str) -> str:
        numbered = _NUMBERED.fullmatch(part)
        before, word, after = numbered.groups() if numbered else ("", part, "")
        if _KERNEL_NUMBER.sub("", word.lower()).strip("_") in OP_WORDS or not word.strip("_"):
            return part
        return before + self._word(word, kind) + after

    def _word(self, word: str, kind: str) -> str:
        """A word; that it is mangled, that it waits and which way it copies stays."""
        way = _WAY.search(word)
        return ("_Z" if word.startswith("_Z") else "") + self._pseudonyms.of(kind, word) + (way[0] if way else "")


def is_number(text: str) -> bool:
    """Whether a text is numbers and nothing else, as arguments and ids have them.

    >>> is_number("[3, 3]"), is_number("0x7f1b"), is_number("bicubic")
    (True, True, False)
    """
    return _NUMBER.fullmatch(text) is not None


def _is_public_op(name: str) -> bool:
    return name.strip("_") in OP_WORDS or _OP.fullmatch(name) is not None or _BUILT_BACKWARD.fullmatch(name) is not None


def _is_public_kernel(name: str) -> bool:
    """Whether every name in that of a kernel is of a library that everybody has.

    >>> _is_public_kernel("void at::native::fill<4, (anonymous namespace)::F<float> >(int)"), _is_public_kernel("at::f<mine::G>")
    (False, False)
    """
    text = name.replace("(anonymous namespace)", "_anonymous")
    paths = re.findall(r"[^\W0-9]\w*(?:::[^\W0-9]\w*)*", text)
    is_library = [path.partition("::")[0] in KERNEL_NAMESPACES and "::" in path for path in paths]
    return any(is_library) and all(known or path in CPP_WORDS for known, path in zip(is_library, paths, strict=True))
