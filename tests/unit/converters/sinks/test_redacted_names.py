"""Names with what is not public in them replaced: what stays, what goes, and that what reads a name reads the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.analyze.torch_table.torch_rows import is_async_name, without_overload
from rblnpb.converters.sinks._redacted_names import KEPT_NAMES, RedactedNames
from rblnpb.naming import device_ordinal, family, parse

NAMES = RedactedNames(b"key")
PSEUDONYM = re.compile(r"[a-z]+_([a-z]{12})")


def shape(text: str) -> str:
    """A name with `?` for every pseudonym."""
    return PSEUDONYM.sub("?", text)


STAYS = {
    NAMES.op: (
        "",
        "aten::mm",
        "aten::add_.Tensor",
        "torch::autograd::AccumulateGrad",
        "torch.distributed.ddp.reducer::copy_bucket_to_grad",
        "autograd::engine::evaluate_function: AddmmBackward0",
        "detach_",
        "nccl:all_reduce",
        "nccl:_all_gather_base",
        "ProfilerStep#12",
        "Optimizer.step#AdamW.step",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "unknown",
    ),
    NAMES.annotation: (
        "",
        "ProfilerStep#3",
        "Torch-Compiled Region: 0/0",
        "Torch-Compiled Region: 1/0_1",
        "Dispatched Region: !0/0",
        "DistributedDataParallel.forward",
        "execute_new_3_cached_4",
        "execute_12_context_1(sq5sk10sqsq25sqsk50)_generation_2(sq2sk20sqsq2sqsk20)",
        "nccl:broadcast",
    ),
    NAMES.row: (
        "",
        "Memcpy HtoD (Pageable -> Device)",
        "Memset (Device)",
        "[memory]",
        "PyTorch Profiler (0)",
        "Iteration Start: PyTorch Profiler",
        "rbln launch",
        "Stream Sync",
        "process_name",
        "mm",
        "mm_k0",
        "i1_0_W0_args_0_2",
        "Notify_Wait",
        "MemcpyAsync",
        "void at::native::elementwise_kernel<128, 4, at::native::(anonymous namespace)::F<float> >(int, at::native::F<c10::Half>)",
        "aten::mm",
    ),
    NAMES.layer: ("", "mm", "conv2d_12", "3_softmax_1", "fused(rms_norm_1+gelu_2)_40", "args_0"),
    NAMES.track: (
        "",
        "python3.11",
        "CPU",
        "GPU 0",
        "NPU 1",
        "RBLN NPU 3",
        "thread 6521 (python)",
        "stream 7 7",
        "Neural DMA (chiplet 2)",
        "Neural Engine Clusters (chiplet 0) (2)",
        "Ascend Hardware",
        "pt_autograd_0",
    ),
    NAMES.device: ("", "rbln:0", "RBLN NPU 3", "NVIDIA A100-SXM4-80GB", "rebel100"),
    NAMES.value: (
        "",
        "[3, 3]",
        "1.5e-05",
        "True",
        "[True, False]",
        "0x7f1b84a00200",
        "c10::Half",
        "long int",
        "2284544 bytes",
        "inf",
    ),
    NAMES.identity: ("Spans", "Trace PyTorch Profiler", "12", "0x1f"),
    NAMES.graph: ("", "0/0", "1/0_1"),
}


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in STAYS.items() for name in names])
def test_what_everybody_knows_stays(rule: Callable[[str], str], name: str) -> None:
    assert rule(name) == name


GOES = {
    NAMES.op: {
        "acme::fusion.mine": "?::?.?",
        "acme::FooBackward0": "?::?Backward0",
        "FooBackward": "?Backward",
        "autograd::engine::evaluate_function: FooBackward": "autograd::engine::evaluate_function: ?Backward",
        "Optimizer.step#Shampoo.step": "Optimizer.step#?",
        "nccl:mine": "nccl:?",
        "nccl:all_reduce_mine": "nccl:?",
        "my op": "?",
        "_ZN4acme": "_Z?",
    },
    NAMES.annotation: {
        "aten::mm": "?",
        "train step": "?",
        "ProfilerStep#mine": "ProfilerStep#?",
        "Torch-Compiled Region: mine 2": "Torch-Compiled Region: ? 2",
        "execute_context_1(mine)_generation_2(2) later": "execute_context_1(?)_generation_2?",
    },
    NAMES.frame: {
        "mine/model.py(52): forward": "?.py(52): ?",
        "<string>(1): <module>": "?(1): ?",
        "<built-in function len>": "<built-in function ?>",
        "<built-in method mul_ of Parameter object at 0x7f6>": "<built-in method ? of ? object at 0x7f6>",
        "nn.Module: Encoder_12": "nn.Module: ?_12",
        "lambda at 0x7f6": "? at 0x7f6",
    },
    NAMES.stack: {"a.py(1): f;b.py(2): g": "?.py(1): ?;?.py(2): ?"},
    NAMES.hierarchy: {"TOP(Net)::forward.SELF(Net)::_head": "TOP(?)::forward.SELF(?)::?"},
    NAMES.row: {
        "i1_17_W0_encoder_7_3": "i1_17_W0_?_7_3",
        "12_encoder_07_0": "12_?_07_0",
        "acme_kernel_3": "?_3",
        "void acme::kernel<float>(at::Tensor)": "?",
        "void at::native::kernel<acme::Secret>(int)": "?",
        "enqueueCommand memcpyHtoDAsync": "?HtoD",
        "synchronizeDevice": "?synchronize",
        "hcom_allReduce__1": "hcom_?",
        "Notify_Wait_mine": "Notify_Wait_?",
        "Memcpy HtoD (Mine -> Device)": "?HtoD",
    },
    NAMES.layer: {"encoder_3": "?_3", "fused(mine_1+gelu_2)_40": "fused(?_1+gelu_2)_40", "/model/attn/MatMul": "?", "a b": "?"},
    NAMES.track: {
        "thread 12 (loader)": "thread 12 (?)",
        "bob-worker": "?",
        "mine (chiplet 1)": "? (chiplet 1)",
        "box npu 3": "? npu 3",
        "Ascend Hardware of bob": "Ascend Hardware ?",
    },
    NAMES.device: {"acme:1": "?:1", "box rbln 3": "? device 3", "Acme 5000": "?"},
    NAMES.site: {"mine/model.py:52(forward)": "?.py:52(?)", "model.py:3": "?.py:3", "a.py(3): f": "?.py(3): ?"},
    NAMES.value: {"bicubic": "?", "exe": "?"},
    NAMES.identity: {"mine": "?"},
}


@pytest.mark.parametrize(
    ("rule", "name", "expected"), [(rule, name, expected) for rule, names in GOES.items() for name, expected in names.items()]
)
def test_what_somebody_chose_goes_and_the_structure_stays(rule: Callable[[str], str], name: str, expected: str) -> None:
    assert shape(rule(name)) == expected


def test_the_same_name_has_the_same_letters_of_whatever_kind_it_is() -> None:
    found = {
        PSEUDONYM.findall(text)[0] for text in (NAMES.annotation("mine"), NAMES.layer("mine_3"), NAMES.track("thread 1 (mine)"))
    }
    assert len(found) == 1


def test_another_key_gives_other_names_and_the_same_key_the_same() -> None:
    assert RedactedNames(b"other").annotation("mine") != NAMES.annotation("mine") == RedactedNames(b"key").annotation("mine")


def test_the_category_says_whose_a_name_is() -> None:
    names = {
        category: NAMES.event(category, "aten::mm") for category in ("cpu_op", "user_annotation", "python_function", "kernel", "")
    }
    assert {category for category, name in names.items() if name == "aten::mm"} == {"cpu_op", "kernel", ""}
    assert NAMES.event("cuda_runtime", "cudaLaunchKernel") == "cudaLaunchKernel"
    assert shape(NAMES.event("kernel", "cudaLaunchKernel")) == "?"


KEPT = {
    "annotations": NAMES.__class__.annotation,
    "kernel-names": NAMES.__class__.row,
    "layer-names": NAMES.__class__.layer,
    "op-names": NAMES.__class__.op,
    "python-names": NAMES.__class__.frame,
    "thread-names": NAMES.__class__.track,
}


@pytest.mark.parametrize("kept", KEPT_NAMES)
def test_kinds_of_names_can_be_kept(kept: str) -> None:
    chosen = RedactedNames(b"key", [kept])
    assert {kind for kind, rule in KEPT.items() if rule(chosen, "mine") == "mine"} == {kept}


def test_settings_and_tools_are_known_or_not() -> None:
    assert NAMES.setting("RBLN_PROFILER", "1") == ("RBLN_PROFILER", "1")
    assert [shape(text) for text in NAMES.setting("RBLN_MINE", "a/b")] == ["?", "?"]
    assert NAMES.tool("rblnpb.sim", "0.1.0") == ("rblnpb.sim", "0.1.0")
    assert [shape(text) for text in NAMES.tool("mine", "0.1 of bob")] == ["?", "?"]


def test_what_was_replaced_is_counted_by_kind() -> None:
    names = RedactedNames(b"key")
    for name in ("a.py(1): f", "a.py(2): f", "b.py(3): f"):
        names.frame(name)
    assert names.counts() == {"name": 1, "path": 2}


# --- properties --------------------------------------------------------------------------------------------------------

MARK = "Zq0Secret"
PARTS = (
    "autograd::engine::evaluate_function: ", "ProfilerStep#", "Optimizer.step#", "SGD.step", "nccl:", "all_reduce",
    "execute_context_1(", ")_generation_2", "execute_new_1_cached_2", "Torch-Compiled Region: ", "0/0", "i1_0_W0_", "12_",
    "_3", "fused(", "+", ")", "(", "thread 12 (", "Ascend Hardware", " (chiplet 2)", "rbln:", "RBLN NPU ", "NVIDIA ",
    "Memcpy HtoD (", "Device -> ", "hcom_", "notify_wait", "memcpy", "nn.Module: ", ".py(12): ", "<built-in function ",
    "<built-in method ", " of ", " object at 0x7f", ">", ":", "::", ".", "_", " ", ";", "mm", "Backward0", "Backward", "HtoD",
    "synchronize", "0", "stream 7", "pt_", "python", "TOP(", "SELF(", "_Z", "\n", "é", "void ", "std::f<", "/",
)  # fmt: skip
RULES = (
    *(lambda text, sort=sort: NAMES.event(sort, text) for sort in ("cpu_op", "user_annotation", "python_function", "kernel", "")),
    *(NAMES.stack, NAMES.hierarchy, NAMES.layer, NAMES.track, NAMES.device, NAMES.site, NAMES.value, NAMES.identity, NAMES.graph),
)
texts = st.lists(st.sampled_from(PARTS), max_size=4).map("".join)


@given(texts, texts)
@settings(max_examples=60, deadline=None)
def test_no_rule_lets_through_what_is_not_public(before: str, after: str) -> None:
    # What stands in a namespace of PyTorch's, or is a generated node of autograd, is public by its form.
    name = f"{before}{MARK}{after}"
    public_forms = re.compile(rf"\b(?:std|autograd)::[\w:.]*{MARK}|\b[A-Z]\w*Backward[0-9]")
    if public_forms.search(name) is None:
        assert [rule(name) for rule in RULES if MARK in rule(name)] == []


@given(texts)
@settings(max_examples=60, deadline=None)
def test_what_reads_names_of_layers_reads_the_same(name: str) -> None:
    redacted, parts = NAMES.row(name), parse(name)
    if parts is not None and parts.sequence is not None:
        found = parse(redacted)
        assert found is not None
        assert (found.style, found.command, found.instance, found.sequence, found.workload) == (
            parts.style,
            parts.command,
            parts.instance,
            parts.sequence,
            parts.workload,
        )
        assert found.layer == NAMES.layer(parts.layer)
    assert device_ordinal(NAMES.device(name)) == device_ordinal(name)


@given(texts, texts)
@settings(max_examples=60, deadline=None)
def test_names_of_one_family_stay_of_one_and_others_apart(one: str, other: str) -> None:
    assert (family(NAMES.layer(one)) == family(NAMES.layer(other))) == (family(one) == family(other))


@given(texts, texts)
@settings(max_examples=60, deadline=None)
def test_operators_are_told_apart_as_before(one: str, other: str) -> None:
    assert (without_overload(NAMES.op(one)) == without_overload(NAMES.op(other))) == (
        without_overload(one) == without_overload(other)
    )
    assert is_async_name(NAMES.op(one)) == is_async_name(one)
