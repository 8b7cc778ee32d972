"""Matrices that keep two of each four elements (one of each two of 32 bits), as T.gemm_sp takes them."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..language.dtypes import dtype as element_type
from ..language.gemm_sp_op import group_of


def get_e_factor(dtype: Any, meta_dtype: Any) -> int:
    """Columns of the dense matrix that one number of the metadata says the places of."""
    element, meta = element_type(dtype), element_type(meta_dtype)
    return meta.bits // 4 * group_of(element.bits)


def _kept(dense: Any, group: int) -> Any:
    """[rows, groups, 2 or 1]: the places of the elements to keep in each group, increasing."""
    import torch

    rows, columns = dense.shape
    if columns % group:
        raise error(ValueError, f"a row of {columns} elements is no whole number of groups of {group}")
    blocks = dense.reshape(rows, columns // group, group)
    nonzero = (blocks != 0).to(torch.int32)
    keep = group // 2
    if int(nonzero.sum(-1).max()) > keep:
        raise error(ValueError, f"a group of {group} elements has more than {keep} that are not 0")
    order = torch.argsort(nonzero, dim=-1, descending=True, stable=True)[..., :keep]
    return torch.sort(order, dim=-1).values


def compress(dense: Any, transposed: bool = False, meta_dtype: Any = None, **_: Any) -> tuple[Any, Any]:
    """(the kept elements, their places) of a matrix; meta_dtype: a torch type of integers, int16 without one (int32 for int8)."""
    import torch

    if transposed:
        values, places = compress(dense.t().contiguous(), meta_dtype=meta_dtype)
        return values.t().contiguous(), places.t().contiguous()
    bits = dense.element_size() * 8
    group = group_of(bits)
    numbers = dense.view(torch.int8) if dense.dtype.is_floating_point and bits == 8 else dense
    magnitude = numbers & 0x7F if numbers.dtype == torch.int8 and dense.dtype.is_floating_point else numbers
    kept = _kept(magnitude, group)
    rows, columns = dense.shape
    blocks = numbers.reshape(rows, columns // group, group)
    values = torch.gather(blocks, 2, kept).reshape(rows, columns // 2)
    values = values.view(dense.dtype) if values.dtype != dense.dtype else values
    codes = kept[..., 0] | (kept[..., 1] << 2) if group == 4 else torch.where(kept[..., 0] == 0, 0b0100, 0b1110)
    meta = meta_dtype or (torch.int32 if dense.dtype in (torch.int8, torch.uint8) else torch.int16)
    a_word = torch.empty(0, dtype=meta).element_size() * 2
    if codes.shape[1] % a_word:
        raise error(ValueError, f"{codes.shape[1]} groups a row do not fill numbers of {meta}, {a_word} each")
    words = codes.reshape(rows, codes.shape[1] // a_word, a_word).to(torch.int64)
    shifts = torch.arange(a_word, device=dense.device, dtype=torch.int64) * 4
    packed = (words << shifts).sum(-1)
    span = 1 << (4 * a_word)
    signed = meta.is_signed
    packed = torch.where(packed >= span // 2, packed - span, packed) if signed else packed
    return values.contiguous(), packed.to(meta)


torch_compress = compress


def _thinned(dense: Any, group: int) -> Any:
    """Half of each group, chosen at random, becomes 0."""
    import torch

    rows, columns = dense.shape
    order = torch.rand(rows, columns // group, group, device=dense.device).argsort(-1)
    dropped = (order >= group // 2).reshape(rows, columns)
    bytes_ = dense.view(torch.int8) if dense.dtype.is_floating_point and dense.element_size() == 1 else dense
    result = bytes_.masked_fill(dropped, 0)
    return result.view(dense.dtype) if result.dtype != dense.dtype else result


def _made(make: Any, rows: int, columns: int, transposed: bool) -> Any:
    dense = make(rows, columns)
    dense = _thinned(dense, group_of(dense.element_size() * 8))
    return dense.t().contiguous() if transposed else dense


def randn_semi_sparse(M: int, K: int, dtype: Any = None, device: Any = "cuda", transposed: bool = False) -> Any:
    """A matrix M x K (K x M if transposed) of normal numbers, half of each group 0."""
    import torch

    kind = dtype or torch.float16
    return _made(lambda m, k: torch.randn(m, k, device=device, dtype=torch.float32).to(kind), M, K, transposed)


def randint_semi_sparse(
    M: int, K: int, low: int, high: int, dtype: Any = None, device: Any = "cuda", transposed: bool = False
) -> Any:
    """A matrix M x K (K x M if transposed) of integers from low to high - 1, half of each group 0."""
    import torch

    kind = dtype or torch.int32
    return _made(lambda m, k: torch.randint(low, high, (m, k), device=device).to(kind), M, K, transposed)
