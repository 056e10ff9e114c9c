"""Advice as a step of a pipeline."""

from __future__ import annotations

import json

from rblnpb import converters
from tests.support.small_run import small_profile, small_trace


def test_advice_on_a_timeline() -> None:
    advised = converters.advise(converters.merge(small_profile(), small_trace()))
    assert str(advised).startswith("Advice: 1 thing to look at\n")
    assert str(advised) == advised.text(120)
    assert [one["code"] for one in json.loads(advised.to_json())["advice"]] == ["launch-bound"]
