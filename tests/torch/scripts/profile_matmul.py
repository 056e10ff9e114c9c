"""Three matrix products after one that is not counted, in a profiling window: the vendor's first example, in our words."""

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

x = torch.randn(512, 512, dtype=torch.float16, device="rbln")

with torch.inference_mode():
    (x @ x).cpu()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
        for _ in range(3):
            (x @ x).cpu()

print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
events = [event for event in prof.events() if event.device_type == DeviceType.PrivateUse1]
print(f"{len(events)} device events, for example: {[event.name for event in events[:4]]}")
prof.export_chrome_trace("trace.json")
