"""Does, a known number of times, everything that the device hides; the regions' dumps and texts go to `explained.json`."""

from __future__ import annotations

import json
from pathlib import Path

import torch

HALF = {"device": "rbln", "dtype": torch.float16}
x = torch.ones(16, 16, **HALF)
wide = torch.ones(16, 16, device="rbln")
index = torch.arange(10, device="rbln")
scalar = torch.ones((), **HALF)
odd = torch.full((4,), float("inf"), **HALF)
host = torch.ones(16, 32)
host_half = host.half()


def work() -> None:
    x @ x  # a program
    x + x  # another one
    for _ in range(3):
        index - 1  # no fp16
    wide * 2  # no fp16
    scalar + scalar  # all scalars
    odd.relu()  # infinite
    x.to(torch.float32)  # the runtime cannot convert on the device
    index.to(torch.int32)  # nor on the host, where these are
    torch.empty(16, 16, **HALF).copy_(x.t())  # strides
    host.to("rbln", torch.float16)  # converted on the host
    host_half.t().to("rbln", memory_format=torch.contiguous_format)  # made contiguous there
    x[:, :4] = host_half[:, :4].contiguous()  # into strides
    torch.empty(16, 16, **HALF).copy_(x)  # nothing hidden
    x.cpu()  # nothing hidden


with torch.rbln.explain(with_stack=True) as cold:
    work()
with torch.rbln.explain() as warm:
    work()
with torch.rbln.explain() as clean:
    x @ x
regions = {"cold": cold, "warm": warm, "clean": clean}
found = {name: {"dump": region.dump(), "report": region.report(), "verdict": region.verdict()} for name, region in regions.items()}
text = cold.diff(warm).report()
Path("explained.json").write_text(json.dumps({**found, "diff": text, "help": cold.help()}), encoding="utf-8")
