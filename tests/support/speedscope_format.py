"""What speedscope asks of a file of its own format, as its specification says it, field by field."""

from __future__ import annotations

from typing import Any

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


def faults(file: Any) -> list[str]:
    """Everything that is wrong with a file, as its JSON was read; empty where speedscope takes it."""
    found = _fields(
        "file", file, {"$schema": str, "shared": dict, "profiles": list}, {"name": str, "activeProfileIndex": int, "exporter": str}
    )
    if found:
        return found
    if file["$schema"] != SCHEMA:
        found.append("file: another schema")
    found += _fields("shared", file["shared"], {"frames": list}, {})
    frames = file["shared"].get("frames", [])
    for number, frame in enumerate(frames):
        found += _fields(f"frame {number}", frame, {"name": str}, {"file": str, "line": int, "col": int})
    for number, profile in enumerate(file["profiles"]):
        found += _profile_faults(f"profile {number}", profile, len(frames))
    if not 0 <= file.get("activeProfileIndex", 0) < max(len(file["profiles"]), 1):
        found.append("file: the active profile is none")
    return found


def _profile_faults(where: str, profile: Any, frame_count: int) -> list[str]:
    needed = {"type": str, "name": str, "unit": str, "startValue": int, "endValue": int, "samples": list, "weights": list}
    found = _fields(where, profile, needed, {})
    if found:
        return found
    if profile["type"] != "sampled" or profile["unit"] not in UNITS:
        found.append(f"{where}: type or unit is not known")
    if len(profile["samples"]) != len(profile["weights"]):
        found.append(f"{where}: {len(profile['samples'])} samples have {len(profile['weights'])} weights")
    if any(type(weight) is not int or weight < 0 for weight in profile["weights"]):
        found.append(f"{where}: a weight is no whole number, or below 0")
    elif profile["startValue"] + sum(profile["weights"]) != profile["endValue"]:
        found.append(f"{where}: weights do not add up to its end")
    for number, sample in enumerate(profile["samples"]):
        if not sample or any(type(frame) is not int or not 0 <= frame < frame_count for frame in sample):
            found.append(f"{where}: sample {number} is of frames that are not there, or of none")
    return found


def _fields(where: str, value: Any, needed: dict[str, type], allowed: dict[str, type]) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: is no object"]
    found = [f"{where}: has no {name}" for name in needed if name not in value]
    for name, one in value.items():
        kind = {**needed, **allowed}.get(name)
        if kind is None:
            found.append(f"{where}: {name} is not known")
        elif type(one) is not kind:
            found.append(f"{where}: {name} is of another type")
    return found
