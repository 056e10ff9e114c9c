"""Keeps the schema's promise: writes the baseline of a version, and compares the schema with the newest baseline.

    python scripts/release_schema.py           # writes proto/released/vX.Y.binpb for the version in rblnpb.container
    python scripts/release_schema.py --check   # exit code 1 when the schema breaks the newest baseline

A baseline is a descriptor image without comments. Before 1.0 a break is allowed: raise the schema's version, write down in
CHANGELOG.md what breaks, and run this. Needs the environment that scripts/test.py makes (buf comes as a wheel).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASED = ROOT / "proto" / "released"


def buf(*arguments: str) -> int:
    """Run buf in the repository's root; returns its exit code."""
    beside = Path(sys.executable).with_name("buf")
    tool = str(beside) if beside.exists() else shutil.which("buf")
    if tool is None:
        raise SystemExit("buf is missing: pip install --group proto, or use the .venv of scripts/test.py")
    return subprocess.run([tool, *arguments], cwd=ROOT, check=False).returncode


def newest(folder: Path) -> Path | None:
    """The baseline with the highest version in `folder`: v0.10 comes after v0.9."""
    named = ((re.fullmatch(r"v(\d+)\.(\d+)\.binpb", path.name), path) for path in folder.glob("*.binpb"))
    versions = [(int(match.group(1)), int(match.group(2)), path) for match, path in named if match]
    return max(versions)[2] if versions else None


def refusal(changelog: str, version: str, target: Path, *, force: bool) -> str:
    """Why the baseline of `version` must not be written to `target` now; empty when it may be."""
    if target.exists() and not force:
        return f"{target.name} exists and is a promise: raise the schema's version, or say --force when nobody has it yet"
    if not re.search(rf"\bschema {re.escape(version)}\b", changelog, re.IGNORECASE):
        return f"CHANGELOG.md has no entry that says `schema {version}`: write down what is new, then run this again"
    return ""


def check() -> int:
    """Compare the schema with the newest baseline."""
    baseline = newest(RELEASED)
    if baseline is None:
        print("no baseline in proto/released yet: nothing to compare with")
        return 0
    print(f"compared with {baseline.relative_to(ROOT).as_posix()}")
    return 1 if buf("breaking", "--against", str(baseline)) else 0


def release(*, force: bool) -> int:
    """Write the baseline of the version that the package says it writes."""
    sys.path.insert(0, str(ROOT))
    from rblnpb.container import SCHEMA_VERSION

    version = ".".join(map(str, SCHEMA_VERSION))
    target = RELEASED / f"v{version}.binpb"
    reason = refusal((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version, target, force=force)
    if reason:
        print(reason, file=sys.stderr)
        return 1
    RELEASED.mkdir(exist_ok=True)
    if buf("build", "--exclude-source-info", "-o", str(target)):
        return 1
    print(f"wrote {target.relative_to(ROOT).as_posix()} ({target.stat().st_size:,} bytes)")
    return 0


def main() -> int:
    """Write a baseline, or with --check compare with the newest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; compare with the newest baseline")
    parser.add_argument("--force", action="store_true", help="replace the baseline of this version")
    options = parser.parse_args()
    return check() if options.check else release(force=options.force)


if __name__ == "__main__":
    raise SystemExit(main())
