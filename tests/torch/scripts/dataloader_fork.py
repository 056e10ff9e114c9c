"""Data from two worker processes that were forked off inside of the profiling window."""

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, TensorDataset

weight = torch.randn(16, 16, dtype=torch.float16, device="rbln")
data = TensorDataset(torch.randn(12, 16).half())

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
    for (batch,) in DataLoader(data, batch_size=3, num_workers=2, multiprocessing_context="fork"):
        torch.relu(batch.to("rbln") @ weight).cpu()
