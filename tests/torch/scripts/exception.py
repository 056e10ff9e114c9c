"""A program that fails inside of its profiling window, and goes on."""

import torch
from torch.profiler import ProfilerActivity, profile

x = torch.randn(64, 64, dtype=torch.float16, device="rbln")
try:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
        x @ x
        x @ torch.zeros(3, 3, dtype=torch.float16, device="rbln")
except RuntimeError as error:
    print(f"caught: {str(error)[:40]}")
