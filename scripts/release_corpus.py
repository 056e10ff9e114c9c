"""Keeps files of every released version of the format: writes those of this version, with the numbers that they hold.

    python scripts/release_corpus.py           # writes tests/compat/format/vX.Y for the version in rblnpb.container
    python scripts/release_corpus.py --check   # exit code 1 when it is not there, or a file of any version reads to other numbers

Run it once when a version of the schema is released, behind scripts/release_schema.py, and commit what it wrote: from then on
tests/compat/test_format_corpus.py reads these files with every later reader. A folder that exists is a promise and stays as it
is; --force writes that of this version again while nobody has it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
LIMIT_BYTES: Final = 200_000
"""Of a version."""


def release(folder: Path, *, force: bool) -> int:
    """Write the files of this version, and what is read of them."""
    from tests.support.format_corpus import NUMBERS, as_json
    from tests.support.format_numbers import numbers
    from tests.support.format_specimens import specimens

    if folder.exists() and not force:
        print(
            f"{folder.name} exists and is a promise: raise the schema's version, or say --force when nobody has it", file=sys.stderr
        )
        return 1
    made = specimens()
    told = as_json({name: numbers(data) for name, data in sorted(made.items())})
    texts = {f"{name}.pb": data for name, data in made.items()} | {NUMBERS: told.encode()}
    size = sum(map(len, texts.values()))
    if size > LIMIT_BYTES:
        print(f"the files of {folder.name} have {size:,} bytes, more than {LIMIT_BYTES:,}", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, data in texts.items():
        (folder / name).write_bytes(data)
    print(f"wrote {folder.relative_to(ROOT).as_posix()} ({len(made)} files, {size:,} bytes)")
    return 0


def check(folder: Path) -> int:
    """Read the files of every version again."""
    from tests.support.format_corpus import CORPUS, kept_numbers
    from tests.support.format_numbers import differences, numbers

    if not folder.exists():
        print(f"{folder.name} is not there: run this without --check", file=sys.stderr)
        return 1
    found: list[str] = []
    for version in sorted(CORPUS.iterdir()):
        for name, value in kept_numbers(version).items():
            found += differences(value, numbers((version / f"{name}.pb").read_bytes()), f"{version.name}/{name}")
    print("\n".join(found) if found else "every file of every version reads to the numbers that were kept")
    return 1 if found else 0


def main() -> int:
    """Write the files of this version, or with --check read those of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; read the files of every version")
    parser.add_argument("--force", action="store_true", help="write the files of this version again")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from rblnpb.container import SCHEMA_VERSION
    from tests.support.format_corpus import CORPUS

    folder = CORPUS / f"v{SCHEMA_VERSION[0]}.{SCHEMA_VERSION[1]}"
    return check(folder) if options.check else release(folder, force=options.force)


if __name__ == "__main__":
    raise SystemExit(main())
