"""A window with everything that torch.profiler can record: stacks, modules, shapes, memory, operations."""

import torch
from torch.profiler import ProfilerActivity, profile, record_function

model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU()).half().to("rbln")
values = torch.ones(16, 16, dtype=torch.float16, device="rbln")

# The first range of a process imports a module of torch; inside of the window torch 2.13 would list a name that is freed by then.
with record_function("before"):
    pass

with (
    profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_flops=True,
        with_modules=True,
    ) as prof,
    record_function("step"),
):
    model(values).sum().backward()
