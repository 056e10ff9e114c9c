"""Records the host trace that the package ships, with the real torch.profiler: two training steps of a small transformer.

    python scripts/record_host_trace.py            # writes rblnpb/data/transformer_step.json.gz and .table.txt

Needs `pip install torch==2.13.0` (the CPU build is enough); nothing else in the project does. One thread trains (forward,
backward, optimizer) inside `ProfilerStep#n` annotations, a second one runs inference at the same time, so that an op and a
launch can only be matched by thread and time together. Every run gives other times: record again only when the
file must hold something new, and read the difference.

Two texts that name the machine are replaced, nothing else is touched: `host_name` becomes `example-host`, and `traceName`
keeps the bare file name. Thread and process ids stay: they are numbers of a machine that nobody can reach.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
import threading
from pathlib import Path

import torch
from torch._C._profiler import _ExperimentalConfig  # the only way to have the other threads in the trace
from torch.profiler import ProfilerActivity, profile, record_function

NAME = "transformer_step"
STEPS = 2
WIDTH, HEADS, TOKENS, BATCH = 64, 4, 32, 8


class Train:
    """A two-layer transformer encoder and one optimizer over it."""

    def __init__(self) -> None:
        torch.manual_seed(20261129)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, dim_feedforward=2 * WIDTH, batch_first=True)
        self.model = torch.nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(WIDTH, 10)
        self.optimizer = torch.optim.SGD([*self.model.parameters(), *self.head.parameters()], lr=0.01)

    def step(self) -> float:
        """One forward, backward and optimizer step; returns the loss."""
        tokens = torch.randn(BATCH, TOKENS, WIDTH)
        labels = torch.randint(0, 10, (BATCH,))
        loss = torch.nn.functional.cross_entropy(self.head(self.model(tokens).mean(dim=1)), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(loss.item())


def infer(layer: torch.nn.Module, ready: threading.Event, stop: threading.Event) -> None:
    """A second thread's work: `layer` in inference mode, again and again, until told to stop."""
    with torch.inference_mode():
        while not stop.is_set():
            with record_function("serve"):
                layer(torch.randn(1, TOKENS, WIDTH)).argmax(dim=-1)
            ready.set()
            stop.wait(0.002)


def record(raw: Path) -> str:
    """Train for STEPS steps under the profiler, export the trace to `raw`, return torch's own table of the run."""
    torch.set_num_threads(1)
    train = Train()
    train.step()
    served = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, dim_feedforward=WIDTH, batch_first=True).eval()
    ready, stop = threading.Event(), threading.Event()
    every_thread = _ExperimentalConfig(profile_all_threads=True)
    with profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread) as profiler:
        server = threading.Thread(target=infer, args=(served, ready, stop), name="serve")
        server.start()
        ready.wait()
        for number in range(STEPS):
            with record_function(f"ProfilerStep#{number}"):
                train.step()
        stop.set()
        server.join()
    profiler.export_chrome_trace(str(raw))
    return str(profiler.key_averages().table(row_limit=-1))


def without_machine(text: str) -> str:
    """`text` of a trace with the two fields replaced that name the machine it was recorded on."""
    text, hosts = re.subn(r'("host_name": )"[^"]*"', r'\1"example-host"', text)
    text, names = re.subn(r'("traceName": )"[^"]*"', rf'\1"{NAME}.json"', text)
    if (hosts, names) != (1, 1):
        raise SystemExit(f"expected one host_name and one traceName, found {hosts} and {names}: torch writes another layout")
    return text


def main() -> int:
    """Record, replace the machine's names, compress the same way every time, write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parent.parent / "rblnpb" / "data"
    parser.add_argument("--output-dir", type=Path, default=default, help="default: rblnpb/data")
    folder: Path = parser.parse_args().output_dir
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / f"{NAME}.json"
        table = record(raw)
        trace = without_machine(raw.read_text(encoding="utf-8"))
    packed = gzip.compress(trace.encode(), compresslevel=9, mtime=0)
    (folder / f"{NAME}.json.gz").write_bytes(packed)
    (folder / f"{NAME}.table.txt").write_text(table, encoding="utf-8")
    print(f"wrote {folder / NAME}.json.gz ({len(packed):,} bytes) and {NAME}.table.txt with torch {torch.__version__}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
