"""A small residual network of convolutions in halves: inference, then one training step."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.relu(values + self.body(values))


model = nn.Sequential(
    nn.Conv2d(3, 8, 7, stride=2, padding=3),
    nn.MaxPool2d(2),
    Block(8),
    Block(8),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 5),
)
model = model.half().to("rbln")
images = torch.randn(2, 3, 32, 32).half().to("rbln")

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1], profile_memory=True) as prof:
    with record_function("infer"), torch.no_grad():
        model(images)
    with record_function("train"):
        model(images).float().sum().backward()
