"""Fuzzes one reader of the package, for as long as it is told; what breaks it is kept.

    python scripts/fuzz_reader.py --list
    python scripts/fuzz_reader.py profile --minutes 10
    python scripts/fuzz_reader.py host --corpus ../fuzz/host     # goes on with what an earlier run found there

With atheris (pip install atheris) inputs are chosen by the code that they reach; without it, or with --plain, by what readers
say of them. Both change whole messages and compress and sum them up again, so that checksums keep nothing out. Anything that
is no error of ours, that takes longer than --seconds for an input, or more than --gigabytes, ends the run with exit code 1: the
input is left in the folder of the corpus as crash-*. Make it small, put it into tests/fuzz/corpus/TARGET and fix its kind.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent

if TYPE_CHECKING:
    from tests.fuzz.targets import Target


class TooSlowError(BaseException):
    """An input took longer than it may. No Exception, so that nothing on the way takes it for its own."""


def limit_memory(gigabytes: float) -> None:
    """Let allocations beyond a size fail instead of filling the machine; nothing where the system knows no such limit."""
    try:
        import resource
    except ImportError:
        return
    size = int(gigabytes * (1 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def read_within(target: Target, data: bytes, seconds: float) -> list[str]:
    """What the target says of an input.

    Raises:
        TooSlowError: It takes too long.
    """

    def stop(*_: Any) -> None:
        raise TooSlowError(f"more than {seconds} s for {len(data):,} bytes")

    if not hasattr(signal, "setitimer"):
        return target.read(data)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return target.read(data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def inputs(target: Target, name: str, corpus: Path) -> list[bytes]:
    """What to begin with: seeds of the target, the repository's corpus, and what earlier runs kept."""
    folders = [ROOT / "tests" / "fuzz" / "corpus" / name, corpus]
    kept = [path.read_bytes() for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    return list(dict.fromkeys([*target.seeds(), *kept]))


def plainly(target: Target, options: argparse.Namespace) -> int:
    """The loop without atheris: an input of which something new is said becomes one to begin with."""
    draw = random.Random(options.seed)
    pool = inputs(target, options.target, options.corpus)
    known: set[str] = set()
    for data in pool:
        known |= set(read_within(target, data, options.seconds))
    began = time.monotonic()
    count = 0
    while time.monotonic() - began < 60 * options.minutes:
        data = target.mutate(draw.choice(pool), draw)[: target.max_bytes]
        count += 1
        try:
            new = set(read_within(target, data, options.seconds)) - known
        except (Exception, TooSlowError):  # noqa: BLE001  # whatever it is, it is what this is for
            traceback.print_exc()
            print(f"kept as {keep(data, options.corpus, 'crash-')}")
            return 1
        if new:
            known |= new
            pool.append(data)
            keep(data, options.corpus)
    rate = count / max(time.monotonic() - began, 1e-9)
    print(
        f"{options.target}: {count:,} inputs, {rate:,.0f} a second; {len(known):,} things said, {len(pool):,} inputs kept; no crash"
    )
    return 0


def keep(data: bytes, folder: Path, prefix: str = "") -> Path:
    """Write an input under a name of its content."""
    path = folder / f"{prefix}{hashlib.sha256(data).hexdigest()[:16]}"
    path.write_bytes(data)
    return path


def guided(atheris: Any, target: Target, options: argparse.Namespace) -> int:
    """The loop of atheris, which ends the process by itself."""

    def one(data: bytes) -> None:
        # Longer ones are cut here: the mutator of messages does not know the limit.
        read_within(target, data[: target.max_bytes], options.seconds)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        draw = random.Random(seed)
        if draw.random() > 0.7:
            return bytes(atheris.Mutate(data, max_size))
        try:
            return target.mutate(data, draw)[:max_size]
        except Exception:  # noqa: BLE001  # the mutator is broken; atheris would wait for ever
            traceback.print_exc()
            os._exit(2)

    with tempfile.TemporaryDirectory() as begun:
        for data in inputs(target, options.target, options.corpus):
            keep(data, Path(begun))
        arguments = [sys.argv[0], str(options.corpus), begun, f"-max_total_time={round(60 * options.minutes)}", "-timeout=120"]
        arguments += [
            f"-max_len={target.max_bytes}",
            f"-artifact_prefix={options.corpus}/",
            "-rss_limit_mb=0",
            "-print_final_stats=1",
        ]
        if target.tokens:
            arguments.append(f"-dict={dictionary(target.tokens, Path(begun).with_suffix('.dict'))}")
        atheris.Setup(arguments, one, custom_mutator=mutate)
        atheris.Fuzz()
    return 0


def dictionary(tokens: tuple[bytes, ...], path: Path) -> Path:
    """Tokens as libFuzzer reads them."""
    lines = ("".join(f"\\x{byte:02x}" for byte in token) for token in tokens)
    path.write_text("".join(f'"{line}"\n' for line in lines), encoding="ascii")
    return path


def instrumented(*, is_plain: bool) -> Any:
    """Atheris with the package under it; None when it is not wanted or not there."""
    if is_plain:
        return None
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        print("atheris is not installed: inputs are chosen by what readers say of them", file=sys.stderr)
        return None
    with atheris.instrument_imports(include=["rblnpb"]):
        import tests.fuzz.targets
        import tests.fuzz.ways  # noqa: F401  # imported for the sake of what it imports
    return atheris


def described(names: Iterator[str]) -> str:
    """The targets in one line."""
    return "targets: " + ", ".join(names)


def main() -> int:
    """Fuzz one target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", metavar="TARGET", help="what to fuzz; see --list")
    parser.add_argument("--list", action="store_true", help="name the targets")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long; default: %(default)s")
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="where inputs are kept; default: a new folder")
    parser.add_argument("--plain", action="store_true", help="the loop of this script even where atheris is installed")
    parser.add_argument("--seed", type=int, default=0, help="of the loop of this script; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=10.0, help="most time for one input; default: %(default)s")
    parser.add_argument("--gigabytes", type=float, default=4.0, help="most memory; default: %(default)s")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    atheris = None if options.list else instrumented(is_plain=options.plain)
    from tests.fuzz.targets import TARGETS

    if options.list:
        print("\n".join(TARGETS))
        return 0
    if options.target not in TARGETS:
        parser.error(described(iter(TARGETS)))
    options.corpus = options.corpus or Path(tempfile.mkdtemp(prefix=f"fuzz-{options.target}-"))
    options.corpus.mkdir(parents=True, exist_ok=True)
    limit_memory(options.gigabytes)
    target = TARGETS[options.target]
    return guided(atheris, target, options) if atheris else plainly(target, options)


if __name__ == "__main__":
    raise SystemExit(main())
