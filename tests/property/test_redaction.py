"""Any profile, redacted: the records that it had, nothing odd that it did not have, and a file like any other."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given, settings

import rblnpb
from rblnpb.columns import TraceEvents
from rblnpb.converters.sinks._redacted_names import RedactedNames
from rblnpb.converters.sinks.redacted_profile import redacted_profile
from rblnpb.profile import KINDS, Profile
from tests.support import strategies

NAMES = RedactedNames(b"key")


@given(strategies.profiles())
@settings(max_examples=12, deadline=None)
def test_a_redacted_profile_has_the_same_records_and_no_finding_more_in_a_file_too(profile: Profile) -> None:
    alone = profile.replace(trace_events=TraceEvents.empty(), trace_document=None)
    redacted = redacted_profile(profile, NAMES)
    assert [finding.code for finding in rblnpb.check(redacted)] == [finding.code for finding in rblnpb.check(alone)]
    for kind in KINDS:
        before, after = alone.table(kind).columns(), redacted.table(kind).columns()
        for name in before:
            if not name.endswith("_strindex") and kind != TraceEvents.kind:
                np.testing.assert_array_equal(before[name], after[name], err_msg=name)
    file = io.BytesIO()
    rblnpb.write(redacted, file)
    # The file's table of strings has names of definitions behind those that records refer to.
    assert rblnpb.read(file.getvalue()).replace(strings=redacted.strings).equals(redacted)
