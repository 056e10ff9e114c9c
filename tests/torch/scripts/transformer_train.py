"""A training step of a small transformer in halves, while a second thread runs inference on another one."""

import threading

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(0)


def encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(32, 10)).half().to("rbln")


model, other = encoder(), encoder().eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
source = torch.randn(2, 8, 32).half().to("rbln")
target = torch.randint(0, 10, (16,)).to("rbln")


def step() -> None:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(source).view(-1, 10), target)
    loss.backward()
    optimizer.step()


def infer() -> None:
    with torch.no_grad():
        other(source)


step()
every_thread = torch.profiler._ExperimentalConfig(profile_all_threads=True)
activities = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
with profile(activities=activities, record_shapes=True, experimental_config=every_thread) as prof:
    thread = threading.Thread(target=infer)
    thread.start()
    step()
    thread.join()
