"""What reading may take: a limit that is set, and an error that names it."""

from __future__ import annotations

import pytest

from rblnpb.errors import FormatError
from rblnpb.limits import DEFAULT_LIMITS, Budget, Limits


def test_a_small_file_may_fill_a_fixed_amount_and_a_large_one_a_multiple_of_itself() -> None:
    limits = Limits(record_bytes=1_000, expansion=10)

    assert [limits.allowed_bytes(size) for size in (0, 100, 101)] == [1_000, 1_000, 1_010]
    assert DEFAULT_LIMITS.allowed_bytes(1) == 2 << 30


def test_what_is_beyond_the_budget_is_refused_by_name() -> None:
    budget = Budget("a.pb", 50, Limits(record_bytes=1_000, expansion=10))
    budget.spend(600)
    budget.spend(400)

    with pytest.raises(FormatError) as raised:
        budget.spend(1)

    assert str(raised.value) == (
        "cannot read a.pb: its chunks claim more than 1,000 bytes of records, which 50 bytes do not hold: it is made to fill the "
        "memory (rblnpb.open_profile reads it chunk by chunk, rblnpb.Limits sets another limit)"
    )
