"""Tensors on device="rbln": every operator of the CPU, the same numbers, plain tensors."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

pytestmark = pytest.mark.torch

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 1e-3},
    "AdamW": {"lr": 1e-3},
}


def transformer(torch: Any) -> tuple[Any, Any]:
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.nn.Linear(32, 10))
    return model, torch.randn(2, 8, 32)


def convnet(torch: Any) -> tuple[Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.GroupNorm(2, 8), nn.Flatten(), nn.Linear(288, 10))
    return model, torch.randn(2, 3, 8, 8)


def recurrent(torch: Any) -> tuple[Any, Any]:
    class Recurrent(torch.nn.Module):  # type: ignore[misc]  # torch may not be installed where types are checked
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.gru, self.head = torch.nn.LSTM(8, 16, 2), torch.nn.GRU(16, 16), torch.nn.Linear(16, 10)

        def forward(self, values: Any) -> Any:
            return self.head(self.gru(self.lstm(values)[0])[0])

    return Recurrent(), torch.randn(5, 2, 8)


def trained(torch: Any, model: Any, values: Any, device: str, optimizer: str) -> tuple[list[float], list[Any]]:
    model, values = copy.deepcopy(model).to(device), values.to(device)
    rows = model(values).view(-1, 10).shape[0]
    target = (torch.arange(rows) % 10).to(device)
    chosen = getattr(torch.optim, optimizer)(model.parameters(), **OPTIMIZERS[optimizer])
    losses = []
    for _ in range(4):
        chosen.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(values).view(-1, 10), target)
        loss.backward()
        chosen.step()
        losses.append(loss.item())
    return losses, [parameter.detach().cpu() for parameter in model.parameters()]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("make", [transformer, convnet])
def test_training_gives_the_cpus_numbers_to_the_last_bit(torch: Any, make: Any, optimizer: str) -> None:
    torch.manual_seed(0)
    model, values = make(torch)
    losses, parameters = trained(torch, model, values, "cpu", optimizer)
    device_losses, device_parameters = trained(torch, model, values, "rbln", optimizer)

    assert device_losses == losses
    assert all(torch.equal(one, other) for one, other in zip(parameters, device_parameters, strict=True))


def test_recurrent_cells_give_the_cpus_numbers_up_to_the_order_of_sums(torch: Any) -> None:
    torch.manual_seed(0)
    model, values = recurrent(torch)
    losses, parameters = trained(torch, model, values, "cpu", "SGD")
    device_losses, device_parameters = trained(torch, model, values, "rbln", "SGD")

    assert device_losses == pytest.approx(losses, abs=1e-5)
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(parameters, device_parameters, strict=True))


def test_a_product_of_halves_is_that_of_floats_rounded(torch: Any) -> None:
    torch.manual_seed(0)
    left, right = torch.randn(64, 48).half(), torch.randn(48, 32).half()

    assert torch.equal((left.to("rbln") @ right.to("rbln")).cpu(), (left.float() @ right.float()).half())


def test_a_tensor_of_the_device_is_a_plain_tensor(torch: Any) -> None:
    values = torch.zeros(2, 3, device="rbln")
    values.t()[1].fill_(7)
    values.view(6)[5:].add_(1)

    assert (type(values), str(values.device), values.is_rbln, values.stride()) == (torch.Tensor, "rbln:0", True, (3, 1))
    assert values.tolist() == [[0, 7, 0], [0, 7, 1]]
    assert str(values) == "tensor([[0., 7., 0.],\n        [0., 7., 1.]], device='rbln:0')"


CASES: dict[str, Any] = {
    "randn": lambda torch: torch.randn(3, device="rbln").shape == (3,),
    "arange": lambda torch: torch.arange(3, device="rbln").tolist() == [0, 1, 2],
    "full": lambda torch: torch.full((2,), 3.0, device="rbln:0").tolist() == [3, 3],
    "item": lambda torch: torch.tensor(2.5, device="rbln").item() == 2.5,
    "bool": lambda torch: bool(torch.ones((), device="rbln")) is True,
    "out that grows": lambda torch: (
        torch.add(torch.ones(3, device="rbln"), 1, out=torch.empty(0, device="rbln")).tolist() == [2, 2, 2]
    ),
    "resize": lambda torch: torch.ones(2, device="rbln").resize_(4)[:2].tolist() == [1, 1],
    "cat": lambda torch: torch.cat([torch.ones(1, device="rbln"), torch.zeros(1, device="rbln")]).tolist() == [1, 0],
    "index by the cpu": lambda torch: torch.arange(5, device="rbln")[torch.tensor([1, 3])].tolist() == [1, 3],
    "mask": lambda torch: torch.masked_select(x := torch.arange(5, device="rbln"), x > 2).tolist() == [3, 4],
    "a scalar of the cpu": lambda torch: (torch.ones(2, device="rbln") + torch.tensor(1.0)).tolist() == [2, 2],
    "lazy conjugate": lambda torch: torch.ones(1, dtype=torch.complex64, device="rbln").conj().imag.tolist() == [0],
    "unique": lambda torch: torch.unique(torch.tensor([2, 1, 2], device="rbln")).tolist() == [1, 2],
    "svd": lambda torch: torch.linalg.svd(torch.eye(2, device="rbln"))[1].tolist() == [1, 1],
    "vmap": lambda torch: torch.vmap(lambda a: a.sum())(torch.ones(2, 3, device="rbln")).tolist() == [3, 3],
    "func.grad": lambda torch: torch.func.grad(lambda a: (a * a).sum())(torch.ones(2, device="rbln")).tolist() == [2, 2],
    "module": lambda torch: torch.nn.Linear(2, 2).rbln().weight.is_rbln,
    "channels last": lambda torch: (
        torch.ones(1, 3, 4, 4, device="rbln").to(memory_format=torch.channels_last).stride() == (48, 1, 12, 3)
    ),
    "inference mode": lambda torch: (
        torch.inference_mode()(lambda: torch.ones(2, 2, device="rbln") @ torch.ones(2, device="rbln"))().cpu().tolist() == [2, 2]
    ),
    "empty": lambda torch: torch.empty(0, 3, device="rbln").sum().item() == 0,
}


@pytest.mark.parametrize("name", CASES)
def test_operators(torch: Any, name: str) -> None:
    assert CASES[name](torch)


def test_a_masked_attention_gives_the_cpus_numbers(torch: Any) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 4, 8, 8) for _ in range(3))
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    attend = torch.nn.functional.scaled_dot_product_attention
    on_device = [tensor.to("rbln") for tensor in (query, key, value)]

    assert torch.equal(attend(*on_device, mask.to("rbln")).cpu(), attend(query, key, value, mask))
    assert torch.equal(attend(*on_device, is_causal=True).cpu(), attend(query, key, value, is_causal=True))


def test_operands_of_two_devices_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Expected all tensors to be on the same device, .* rbln:0 and cpu!"):
        torch.ones(2, device="rbln") + torch.ones(2)


def test_there_is_one_device(torch: Any) -> None:
    torch.rbln.synchronize()

    assert (torch.rbln.device_count(), torch.rbln.current_device(), torch.rbln.is_available()) == (1, 0, True)
    with pytest.raises(RuntimeError, match="there is one simulated device"):
        torch.rbln.set_device(1)


def test_a_model_moved_to_the_cpu_can_be_stored_and_loaded(torch: Any) -> None:
    model = torch.nn.Linear(2, 2).to("rbln")
    file = io.BytesIO()
    torch.save({name: value.cpu() for name, value in model.state_dict().items()}, file)
    file.seek(0)

    assert str(model.load_state_dict(torch.load(file))) == "<All keys matched successfully>"
