"""Cells of LSTM and GRU: torch calls fused ones on every device that is no CPU, and has them for none of a third party."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rblnpb.torch.operators import Operators

__all__ = ["recurrent_kernels"]


def recurrent_kernels(operators: Operators) -> dict[str, Callable[..., Any]]:
    """The kernels by the names of their operators."""
    cells: dict[str, Callable[..., Any]] = {
        "_thnn_fused_lstm_cell": _lstm,
        "_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
        "_thnn_fused_gru_cell": _gru,
        "_thnn_fused_gru_cell_backward": _gru_backward,
    }
    return {name: _kernel(operators, getattr(torch.ops.aten, name).default, cell) for name, cell in cells.items()}


def _kernel(operators: Operators, op: Any, cell: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: operators.compute(op, cell, args, {})


def _sum(*parts: Tensor | None) -> Tensor:
    present = [part for part in parts if part is not None]
    total = present[0]
    for part in present[1:]:
        total = total + part
    return total


def _lstm(
    from_input: Tensor, from_hidden: Tensor, cx: Tensor, bias: Tensor | None = None, hidden_bias: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """New hidden state, new cell state, and the activated gates for the way back."""
    gates = _sum(from_input, from_hidden, bias, hidden_bias).chunk(4, 1)
    enter, forget, candidate, leave = gates[0].sigmoid(), gates[1].sigmoid(), gates[2].tanh(), gates[3].sigmoid()
    cy = forget * cx + enter * candidate
    return leave * cy.tanh(), cy, torch.cat([enter, forget, candidate, leave], 1)


def _lstm_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,  # noqa: FBT001 -- torch's signature
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of the gates, of the old cell state and of the bias."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    enter, forget, candidate, leave = workspace.chunk(4, 1)
    shown = cy.tanh()
    to_leave = torch.zeros_like(leave) if grad_hy is None else grad_hy * shown * leave * (1 - leave)
    to_cell = _sum(None if grad_hy is None else grad_hy * leave * (1 - shown * shown), grad_cy)
    to_enter = to_cell * candidate * enter * (1 - enter)
    to_forget = to_cell * cx * forget * (1 - forget)
    to_candidate = to_cell * enter * (1 - candidate * candidate)
    grad_gates = torch.cat([to_enter, to_forget, to_candidate, to_leave], 1)
    return grad_gates, to_cell * forget, grad_gates.sum(0) if has_bias else None


def _gru(
    from_input: Tensor, from_hidden: Tensor, hx: Tensor, bias: Tensor | None = None, hidden_bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """New hidden state, and what the way back needs."""
    inputs, hidden = _sum(from_input, bias).chunk(3, 1), _sum(from_hidden, hidden_bias).chunk(3, 1)
    reset, update = (inputs[0] + hidden[0]).sigmoid(), (inputs[1] + hidden[1]).sigmoid()
    candidate = (inputs[2] + reset * hidden[2]).tanh()
    return candidate + update * (hx - candidate), torch.cat([reset, update, candidate, hx, hidden[2]], 1)


def _gru_backward(
    grad_hy: Tensor,
    workspace: Tensor,
    has_bias: bool,  # noqa: FBT001 -- torch's signature
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Gradients of the input's gates, of the hidden state's gates, of the old hidden state and of both biases."""
    reset, update, candidate, hx, hidden = workspace.chunk(5, 1)
    to_candidate = grad_hy * (1 - update) * (1 - candidate * candidate)
    to_update = grad_hy * (hx - candidate) * update * (1 - update)
    to_reset = to_candidate * hidden * reset * (1 - reset)
    grad_input = torch.cat([to_reset, to_update, to_candidate], 1)
    grad_hidden = torch.cat([to_reset, to_update, to_candidate * reset], 1)
    biases = (grad_input.sum(0), grad_hidden.sum(0)) if has_bias else (None, None)
    return grad_input, grad_hidden, grad_hy * update, *biases
