"""Attention in one piece, wherever the CPU has it in one piece: so the device's numbers are the CPU's to the last bit.

Without this torch falls back to attention in single steps for a device of a third party, whose results differ in the last bits.
Adam turns that into 4e-4 after four steps: a gradient that is zero in exact arithmetic, such as that of a key's bias, is divided
by its own size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor

from rblnpb.torch.operators import Operators

__all__ = ["attention_kernels", "fused_kernels"]

_SINGLE_STEPS: Final = 0
"""What torch.nn.attention.SDPBackend calls MATH."""

_NAME: Final = "aten::scaled_dot_product_attention"


def attention_kernels(operators: Operators) -> dict[str, Callable[..., Any]]:
    """Kernels for the keys of device and autograd, by the names of their operators."""
    return {"scaled_dot_product_attention": _Attention(operators).attend}


def fused_kernels(operators: Operators) -> dict[str, Callable[..., Any]]:
    """Kernels for the key of the device, by the names of the operators that torch keeps for attention of a device's own."""
    attention = _Attention(operators)
    return {
        "_scaled_dot_product_fused_attention_overrideable": attention.forward,
        "_scaled_dot_product_fused_attention_overrideable_backward": attention.backward,
    }


class _Attention:
    """Attention as a whole, and its two halves."""

    def __init__(self, operators: Operators) -> None:
        self._operators = operators

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *rest: Any, **given: Any
    ) -> Tensor:
        """`scaled_dot_product_attention`. torch asks a table in C++ which way a device goes, so the question is put here."""
        choose = torch.ops.aten._fused_sdp_choice.default  # noqa: SLF001 -- an operator's name
        is_learned = attn_mask is not None and attn_mask.requires_grad
        way = self._operators.untold(choose, (query, key, value, attn_mask, *rest), given)
        given_gqa = given.pop("enable_gqa", False)
        if way == _SINGLE_STEPS or is_learned or given_gqa:
            in_steps = torch.ops.aten._scaled_dot_product_attention_math.default  # noqa: SLF001
            output, _ = in_steps(query, key, value, attn_mask, *rest, **given, enable_gqa=given_gqa)
        else:
            fused = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default  # noqa: SLF001
            output = fused(query, key, value, _as_summand(attn_mask, query), *rest, **given)[0]
        return output

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Query, key, value and mask; gives the output, what the way back needs, and places that other devices fill."""
        own = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default  # noqa: SLF001
        return self._operators.compute(own, _forward, args, kwargs, op_name=_NAME)

    def backward(self, *args: Any, **kwargs: Any) -> Any:
        """Gradients of query, key and value; a mask that needs one goes in single steps."""
        own = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward.default  # noqa: SLF001
        return self._operators.compute(own, _backward, args, kwargs, op_name=f"{_NAME}_backward")


def _as_summand(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """A mask of what may be seen as what is added to the scores."""
    if mask is None or mask.dtype is not torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=query.dtype).masked_fill_(mask.logical_not(), -torch.inf)


def _forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002
    _return_debug_mask: bool = False,  # noqa: FBT001, FBT002
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    on_host = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default  # noqa: SLF001
    output, logsumexp = on_host(query, key, value, dropout_p, is_causal, attn_mask=attn_bias, scale=scale)
    unused = query.new_empty(0)
    return output, logsumexp, unused, unused.clone(), query.shape[2], key.shape[2], unused.clone(), unused.clone(), unused.clone()


def _backward(grad: Tensor, query: Tensor, key: Tensor, value: Tensor, *rest: Any, scale: float | None = None) -> tuple[Any, ...]:
    attn_bias, _mask, output, logsumexp, _, _, _, _, dropout_p, is_causal = rest[:10]
    on_host = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default  # noqa: SLF001
    grads = on_host(grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask=attn_bias, scale=scale)
    return (*grads, None)
