"""Generates rblnpb/v1 from proto/ with the pinned grpcio-tools; run it after every change to the schema.

python scripts/regen_proto.py            # writes rblnpb/v1
python scripts/regen_proto.py --check    # exit code 1 and the names when the checked-in files are stale
"""

from __future__ import annotations

import argparse
import importlib.resources
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent


def generate(target: Path) -> dict[str, bytes]:
    """Generated file names and contents, made in the folder `target`."""
    sources = sorted((ROOT / "proto" / "rblnpb" / "v1").glob("*.proto"))
    well_known = importlib.resources.files("grpc_tools") / "_proto"
    arguments = ["protoc", f"-I{ROOT / 'proto'}", f"-I{well_known}", f"--python_out={target}", f"--pyi_out={target}"]
    if protoc.main([*arguments, *map(str, sources)]) != 0:
        raise SystemExit("protoc failed")
    made = target / "rblnpb" / "v1"
    files = {path.name: path.read_bytes() for path in sorted(made.iterdir())}
    files["__init__.py"] = b'"""Generated from proto/ by scripts/regen_proto.py; imported by rblnpb.codec alone."""\n'
    return files


def main() -> int:
    """Write the generated files, or with --check say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file is stale")
    options = parser.parse_args()
    folder = ROOT / "rblnpb" / "v1"
    with tempfile.TemporaryDirectory() as scratch:
        files = generate(Path(scratch))
    present = {path.name: path.read_bytes() for path in folder.glob("*.py*") if path.is_file()}
    stale = sorted(name for name in files.keys() | present.keys() if files.get(name) != present.get(name))
    if options.check:
        for name in stale:
            print(f"stale: rblnpb/v1/{name}; run python scripts/regen_proto.py", file=sys.stderr)
        return 1 if stale else 0
    folder.mkdir(exist_ok=True)
    for name in present.keys() - files.keys():
        (folder / name).unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    print(f"wrote {len(files)} files, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
