"""Counter-based random numbers: Philox 4x32 (and 4x64 for 64-bit offsets), bit for bit as upstream."""

from __future__ import annotations

from ...errors import error
from . import creation, elementwise, shape
from .types import float32, int32, int64, uint32, uint64
from .value import Operand, called, constant_of, native, tensor, to_numbers, to_tensor, wrap

N_ROUNDS_DEFAULT = 10
Four = tuple[tensor, tensor, tensor, tensor]


def philox_impl(c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: int = N_ROUNDS_DEFAULT) -> Four:
    """The bare generator on a counter and a key of unsigned ints."""
    counter, key = [c.handle for c in (c0, c1, c2, c3)], [k0.handle, k1.handle]
    a, b, c, d = map(wrap, native().philox(counter, key, constant_of(n_rounds, "n_rounds")))
    return a, b, c, d


def philox(seed: Operand, c0: Operand, c1: Operand, c2: Operand, c3: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> Four:
    """Four random unsigned ints a lane."""
    seed = to_numbers(seed, "the seed of random numbers")
    if not seed.dtype.is_int():
        raise error(TypeError, f"the seed of random numbers is an integer, got {seed.dtype}")
    seed = creation.cast(seed, uint64)
    c0, c1, c2, c3 = (to_numbers(c, "philox") for c in (c0, c1, c2, c3))
    if c0.dtype.primitive_bitwidth not in (32, 64):
        raise error(ValueError, f"philox takes counters of 32 or 64 bits, got {c0.dtype}", hint=f"cast them to {called('int32')}")
    kind = uint32 if c0.dtype.primitive_bitwidth == 32 else uint64
    c0, c1, c2, c3 = (
        creation.cast(c, kind, bitcast=c.dtype.primitive_bitwidth == kind.primitive_bitwidth)
        for c in (c0, c1, c2, c3)
    )
    low = creation.cast(seed & 0xFFFFFFFF, kind) if kind is uint32 else seed
    high = creation.cast((seed >> 32) & 0xFFFFFFFF, kind) if kind is uint32 else creation.cast(to_tensor(0), uint64)
    return philox_impl(c0, c1, c2, c3, low, high, n_rounds)


def randint4x(seed: Operand, offset: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> Four:
    """Four tiles of random unsigned ints."""
    offset = to_tensor(offset)
    zero = offset * 0
    if offset.dtype.primitive_bitwidth > 32:
        low = creation.cast(offset & 0xFFFFFFFF, uint32)
        high = creation.cast((offset >> 32) & 0xFFFFFFFF, uint32)
        return philox(seed, low, high, low * 0, low * 0, n_rounds)
    return philox(seed, offset, zero, zero, zero, n_rounds)


def randint(seed: Operand, offset: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> tensor:
    """Random unsigned ints."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: tensor) -> tensor:
    """Ints of all bits as floats in [0, 1)."""
    x = to_numbers(x, "uint_to_uniform_float")
    if x.dtype.primitive_bitwidth not in (32, 64):
        raise error(ValueError, f"uint_to_uniform_float takes 32- or 64-bit ints, got {x.dtype}")
    wide = x.dtype.primitive_bitwidth == 64
    x = creation.cast(x, int64 if wide else int32, bitcast=True)
    x = shape.where(x < 0, -x - 1, x)
    return creation.cast(x, float32) * (1.0842020432385337e-19 if wide else 4.6566127342e-10)


def rand(seed: Operand, offset: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> tensor:
    """Uniform floats in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Operand, offsets: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> Four:
    """Four tiles of uniform floats in [0, 1)."""
    a, b, c, d = map(uint_to_uniform_float, randint4x(seed, offsets, n_rounds))
    return a, b, c, d


def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Box-Muller: two uniform tiles to two normal ones."""
    u1 = elementwise.maximum(1.0e-7, u1)
    theta, radius = 6.283185307179586 * u2, elementwise.sqrt(-2.0 * elementwise.log(u1))
    return radius * elementwise.cos(theta), radius * elementwise.sin(theta)


def randn(seed: Operand, offset: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> tensor:
    """Normal floats."""
    first, second, _, _ = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(first), uint_to_uniform_float(second))[0]


def randn4x(seed: Operand, offset: Operand, n_rounds: int = N_ROUNDS_DEFAULT) -> Four:
    """Four tiles of normal floats."""
    u = [uint_to_uniform_float(x) for x in randint4x(seed, offset, n_rounds)]
    return (*pair_uniform_to_normal(u[0], u[1]), *pair_uniform_to_normal(u[2], u[3]))
