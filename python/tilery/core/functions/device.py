"""The elementwise functions that only CUDA's libdevice has, one row each."""

from typing import Any

from .row import FLOAT, FLOATS, INTEGERS, NUMBERS, SAME, SINGLE, Result, Row, Takes

BOTH = Takes(libdevice=SINGLE)
F32 = Takes(libdevice=("float32",))
WHOLE = Takes(libdevice=("int32", "int64", "uint32", "uint64"))
ANY = Takes(libdevice=NUMBERS)
INT = Result("int32", dict.fromkeys((*INTEGERS, *FLOATS), "int32"))


def _to(name: str) -> Result:
    return Result(name, dict.fromkeys((*INTEGERS, *FLOATS), name))


def alike(name: str) -> Any:
    """A function whose operands get one type first."""
    return lambda f, *operands: f.function(name, *f.alike(*operands))


_NORMAL = "1e-30 < abs({0}) < 1e30"
_NUMBER = "abs({0}) > 0"


def _every(condition: str, operands: str) -> str:
    return " and ".join(condition.format(v) for v in operands)


# fmt: off
ROWS = (
    # Bits.
    Row("popc", "x", "function popc", WHOLE, INT, "How many bits are set.", "popcount(x, bits)", libdevice="popc"),
    Row("clz", "x", "function clz", WHOLE, INT, "How many bits lie above the highest one that is set.",
        "bits - bit_length(x, bits)", libdevice="clz"),
    Row("ffs", "x", "function ffs", WHOLE, INT, "The place of the lowest bit that is set, from 1; 0 if there is none.",
        "lowest_bit(x, bits)", libdevice="ffs"),
    Row("brev", "x", "function brev", WHOLE, SAME, "The bits in reverse order.", "reversed_bits(x, bits)", libdevice="brev"),
    Row("mulhi", "x, y", "binary mulhi", WHOLE, SAME, "The upper half of the product.", "(x * y) >> bits", libdevice="mulhi"),
    Row("mul24", "x, y", alike("mul24"), Takes(libdevice=("int32", "uint32")), SAME, "The product of the lower 24 bits.",
        "x * y", where="-(1 << 23) <= x < 1 << 23 and -(1 << 23) <= y < 1 << 23", libdevice="mul24"),
    Row("sad", "x, y, z", alike("sad"), WHOLE, SAME, "|x - y| + z.", "abs(x - y) + z", libdevice="sad"),
    Row("hadd", "x, y", alike("hadd"), WHOLE, SAME, "The mean, rounded down.", "(x + y) >> 1", libdevice="hadd"),
    Row("rhadd", "x, y", alike("rhadd"), WHOLE, SAME, "The mean, rounded up.", "(x + y + 1) >> 1", libdevice="rhadd"),

    # Floats.
    Row("saturatef", "x", lambda f, x: f.function("saturate", f.to_float(x)), F32, SAME,
        "x limited to [0, 1]; NaN gives 0.", "fmin(fmax(x, 0), 1)", ulps=0.5,
        where="x == x", libdevice="saturatef"),
    Row("signbit", "x", "function signbit", BOTH, INT, "1 if the sign is negative, of zeros and NaN, too.", "signbit(x)",
        where="x == x", libdevice="signbit signbitf signbitd"),
    Row("hypot", "x, y", alike("norm"), BOTH, SAME, "The length of (x, y).", "sqrt(x * x + y * y)",
        where=_every(_NUMBER, "xy"), libdevice="hypot"),
    Row("rhypot", "x, y", alike("rnorm"), BOTH, SAME, "1 over the length of (x, y).", "1 / sqrt(x * x + y * y)", ulps=3,
        libdevice="rhypot", where=_every(_NORMAL, "xy")),
    Row("norm3d", "x, y, z", alike("norm"), BOTH, SAME, "The length of (x, y, z).", "sqrt(x * x + y * y + z * z)",
        where=_every(_NUMBER, "xyz"), libdevice="norm3d"),
    Row("rnorm3d", "x, y, z", alike("rnorm"), BOTH, SAME, "1 over the length of (x, y, z).", "1 / sqrt(x * x + y * y + z * z)",
        ulps=3, where=_every(_NORMAL, "xyz"), libdevice="rnorm3d"),
    Row("norm4d", "x, y, z, w", alike("norm"), BOTH, SAME, "The length of (x, y, z, w).", "sqrt(x * x + y * y + z * z + w * w)",
        where=_every(_NUMBER, "xyzw"), libdevice="norm4d"),
    Row("rnorm4d", "x, y, z, w", alike("rnorm"), BOTH, SAME, "1 over the length of (x, y, z, w).",
        "1 / sqrt(x * x + y * y + z * z + w * w)", ulps=3, where=_every(_NORMAL, "xyzw"),
        libdevice="rnorm4d"),
    Row("sinpi", "x", "function sinpi", BOTH, SAME, "The sine of pi times x.", "sinpi(x)", ulps=3, where="abs(x) < 1e15",
        libdevice="sinpi"),
    Row("cospi", "x", "function cospi", BOTH, SAME, "The cosine of pi times x.", "cospi(x)", ulps=3, where="abs(x) < 1e15",
        libdevice="cospi"),
    Row("remainder", "x, y", alike("remainder"), BOTH, SAME, "x less the nearest multiple of y.", "x - y * rint(x / y)",
        ulps=0.5, where="y != 0 and abs(x) < 1e30 and 1e-30 < abs(y) < 1e30", libdevice="remainder"),
    Row("logb", "x", "function logb", BOTH, SAME, "The exponent of x, as a float.", "frexp(x)[1] - 1", ulps=0.5,
        where="0 < abs(x) < 1e305", libdevice="logb"),
    Row("ilogb", "x", "function ilogb", BOTH, INT, "The exponent of x.", "floor(log2(abs(x)))", where="1e-30 < abs(x) < 1e30",
        libdevice="ilogb"),
    Row("rcbrt", "x", "function rcbrt", BOTH, SAME, "1 over the cube root.", "1 / cbrt(x)", ulps=5, where="x != 0",
        libdevice="rcbrt"),
    Row("erfc", "x", "function erfc", BOTH, SAME, "1 less the error function, exact where that is near 1.", "erfc(x)", ulps=3,
        where="-6 < x < 26", libdevice="erfc"),
    Row("normcdf", "x", "function normcdf", BOTH, SAME, "The standard normal distribution below x.", "erfc(-x / sqrt(2)) / 2",
        ulps=600, where="-12 < x < 12", libdevice="normcdf"),
    Row("fast_tanf", "x", "math tan", ANY, FLOAT, "The tangent.", "tan(x)", libdevice="fast_tanf"),
    Row("fast_exp10f", "x", "math exp10", ANY, FLOAT, "10 to the power of x.", "10**x", libdevice="fast_exp10f"),
    Row("fast_log10f", "x", "math log10", ANY, FLOAT, "The logarithm to base 10.", "log10(x)", libdevice="fast_log10f"),
    Row("llrint", "x", lambda f, x: f.cast(f.math("round_even", x), "int64"), BOTH, _to("int64"),
        "The nearest integer, ties to the even one.", "rint(x)", where="abs(x) < 2.0**62", libdevice="llrint"),
    Row("llround", "x", lambda f, x: f.cast(f.math("round", x), "int64"), BOTH, _to("int64"),
        "The nearest integer, ties away from 0.", "round_away(x)", where="abs(x) < 2.0**62", libdevice="llround"),
    Row("rsqrt_rn", "x", lambda f, x: f.cast(f.math("rsqrt", f.cast(x, "float64")), "float32"), F32, SAME,
        "1 over the square root.", "1 / sqrt(x)", ulps=0.51, where="x > 0", libdevice="rsqrt_rn"),
)
# fmt: on
