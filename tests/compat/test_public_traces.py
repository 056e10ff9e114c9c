"""What the status says of public traces."""

from __future__ import annotations

from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import status
from rblnpb.converters.sources.kineto import read_host
from tests.support.shared_traces import needs_shared, shared_file

PARTS = ("traces", "public", "tracelens", "tests", "traces", "inference", "sglang_decode", "sglang_Qwen3-8B_decode.json.gz")


@needs_shared
def test_a_graph_replay_whose_time_is_on_no_op_is_not_called_sound() -> None:
    # One launch, 544 kernels, inside an annotation only.
    values = status(merge(None, read_host(shared_file(*PARTS)))).values
    assert (values.verdict, values.slices_attributed, values.slices_unattributed) == ("warning", 11, 547)
    assert [finding.code for finding in values.findings if str(finding.severity) == "warning"] == ["mostly-unattributed"]
