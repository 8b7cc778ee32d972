"""Tensors of the microscaling formats on the host: elements of 4 bits (e2m1), and scales that are powers of two (e8m0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import error
from ...frontend.wording import counted

if TYPE_CHECKING:
    import torch

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # what the lower three bits mean; the fourth is the sign
_E8M0_BIAS, _E8M0_NAN = 127, 255


class _Coded:
    """A tensor whose elements are bytes that hold a code each, in `data`."""

    def __init__(self, data: torch.Tensor | None = None, size: Sequence[int] | None = None, device: Any = None) -> None:
        if data is None and size is None:
            raise error(ValueError, f"{type(self).__name__} needs data or a size")
        self.device, self.size = device, None if size is None else tuple(size)
        self.data: Any = None
        if data is not None:
            if not hasattr(data, "data_ptr"):
                raise error(AssertionError, f"{type(self).__name__} takes a tensor, got {type(data).__name__}")
            self.device, self.size = data.device, tuple(data.shape)
            self.data = self.encoded(data)

    def encoded(self, values: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def _drawn(self, low: int, high: int) -> None:
        """Codes from low to high - 1."""
        import torch

        self.data = torch.randint(low, high, size=self.size or (), dtype=torch.uint8, device=self.device)

    def _check_float32(self, dtype: Any) -> None:
        import torch

        if dtype != torch.float32:
            raise error(AssertionError, f"{type(self).__name__}.to: only float32 is known, not {dtype}")


class MXFP4Tensor(_Coded):
    """Elements of e2m1: a sign, two bits of exponent, one of mantissa; 0, 0.5, 1, 1.5, 2, 3, 4, 6. `data`: one a byte (uint8).

    :param data: numbers to encode, rounded to nearest, ties to even; what lies beyond 6 becomes 6. None: `size` and `device` of a
        tensor that `random()` fills.
    """

    def random(self) -> MXFP4Tensor:
        """Fills it with codes that are all equally likely."""
        self._drawn(0, 16)
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The values, as float32."""
        import torch

        self._check_float32(dtype)
        table = torch.tensor(_E2M1 + tuple(-v for v in _E2M1), dtype=dtype, device=self.data.device)
        return table[self.data.long()]

    def encoded(self, values: torch.Tensor) -> torch.Tensor:
        import torch

        size = values.abs().to(torch.float64)
        code = torch.zeros(values.shape, dtype=torch.uint8, device=values.device)
        for number in range(1, 8):
            middle = (_E2M1[number - 1] + _E2M1[number]) / 2
            code += (size >= middle if number % 2 == 0 else size > middle).to(torch.uint8)  # ties go to even codes
        return code | (torch.signbit(values.to(torch.float64)).to(torch.uint8) << 3)

    def to_packed_tensor(self, dim: int) -> torch.Tensor:
        """Two elements a byte along `dim`, the first of them in the low half; an odd number is filled up with zeros."""
        import torch

        data = self.data
        if not 0 <= dim < data.ndim:
            raise error(AssertionError, f"dimension {dim} of a tensor of {counted(data.ndim, 'dimension')}")
        if data.shape[dim] % 2:
            extra = list(data.shape)
            extra[dim] = 1
            data = torch.cat([data, data.new_zeros(extra)], dim)
        halves = data.unflatten(dim, (-1, 2))
        return halves.select(dim + 1, 0) | (halves.select(dim + 1, 1) << 4)

    def unpack_packed_tensor(self, packed_tensor: torch.Tensor, dim: int, original_shape: Sequence[int]) -> torch.Tensor:
        """The codes, one a byte, of what `to_packed_tensor` gave for a tensor of that shape."""
        import torch

        both = torch.stack([packed_tensor & 15, packed_tensor >> 4], dim + 1).flatten(dim, dim + 1)
        return both.narrow(dim, 0, original_shape[dim])


class MXScaleTensor(_Coded):
    """Scales of e8m0: a byte e is 2 ** (e - 127), 255 is NaN.

    :param data: numbers to encode: the power of two below each; what is not positive and finite becomes NaN. None: as in
        MXFP4Tensor.
    """

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fills it with powers of two from `low` to `high`; with all there are, where those are None."""
        import math

        first = 0 if low is None else max(0, math.floor(math.log2(low)) + _E8M0_BIAS)
        last = 254 if high is None else min(254, max(0, math.floor(math.log2(high)) + _E8M0_BIAS))
        if first > last:
            raise error(AssertionError, f"no power of two from {low} to {high}")
        self._drawn(first, last + 1)
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The values, as float32."""
        import torch

        self._check_float32(dtype)
        values = torch.exp2(self.data.to(torch.float64) - _E8M0_BIAS).to(dtype)
        return torch.where(self.data == _E8M0_NAN, torch.full_like(values, float("nan")), values)

    def encoded(self, values: torch.Tensor) -> torch.Tensor:
        import torch

        wide = values.to(torch.float64)
        good = torch.isfinite(wide) & (wide > 0)
        _, exponent = torch.frexp(torch.where(good, wide, torch.ones_like(wide)))
        code = (exponent - 1 + _E8M0_BIAS).clamp(0, 254).to(torch.uint8)
        return torch.where(good, code, torch.full_like(code, _E8M0_NAN))
