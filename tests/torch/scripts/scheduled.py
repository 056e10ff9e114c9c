"""A schedule of the profiler: one step to wait, one to warm up, three that count; twice."""

import torch
from torch.profiler import ProfilerActivity, profile, schedule

x = torch.randn(64, 64, dtype=torch.float16, device="rbln")

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], schedule=schedule(wait=1, warmup=1, active=3, repeat=2)
) as prof:
    for _ in range(10):
        (x @ x + x).cpu()
        prof.step()
