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


# Bits of integers.
def _unsigned(f: Any, x: Any) -> tuple[Any, int]:
    bits = 64 if f.dtype(x).endswith("64") else 32
    return f.cast(x, f"uint{bits}"), bits


def _popc(f: Any, x: Any) -> Any:
    x, bits = _unsigned(f, x)
    ones = (1 << bits) - 1
    x = f.binary("-", x, f.binary("&", f.binary(">>", x, 1), ones // 3))
    x = f.binary("+", f.binary("&", x, ones // 5), f.binary("&", f.binary(">>", x, 2), ones // 5))
    x = f.binary("&", f.binary("+", x, f.binary(">>", x, 4)), ones // 17)
    return f.cast(f.binary(">>", f.binary("*", x, ones // 255), bits - 8), "int32")


def _clz(f: Any, x: Any) -> Any:
    x, bits = _unsigned(f, x)
    distance = 1
    while distance < bits:
        x = f.binary("|", x, f.binary(">>", x, distance))
        distance *= 2
    return f.binary("-", bits, _popc(f, x))


def _ffs(f: Any, x: Any) -> Any:
    x, _ = _unsigned(f, x)
    below = f.binary("&", f.unary("~", x), f.binary("-", x, 1))
    return f.select(f.binary("==", x, 0), 0, f.binary("+", _popc(f, below), 1))


def _brev(f: Any, x: Any) -> Any:
    kind = f.dtype(x)
    x, bits = _unsigned(f, x)
    distance = bits // 2
    while distance:
        low = ((1 << bits) - 1) // ((1 << distance) + 1)  # every other group of so many bits
        left = f.binary("<<", f.binary("&", x, low), distance)
        x = f.binary("|", left, f.binary("&", f.binary(">>", x, distance), low))
        distance //= 2
    return f.cast(x, kind)


def _mul24(f: Any, x: Any, y: Any) -> Any:
    x, y = f.alike(x, y)

    def low(v: Any) -> Any:
        return f.binary(">>", f.binary("<<", v, 8), 8)

    return f.binary("*", low(x), low(y))


def _sad(f: Any, x: Any, y: Any, z: Any) -> Any:
    x, y, z = f.alike(x, y, z)
    apart = f.select(f.binary(">", x, y), f.binary("-", x, y), f.binary("-", y, x))
    return f.binary("+", apart, z)


def _hadd(f: Any, x: Any, y: Any) -> Any:
    x, y = f.alike(x, y)
    return f.binary("+", f.binary("&", x, y), f.binary(">>", f.binary("^", x, y), 1))


def _rhadd(f: Any, x: Any, y: Any) -> Any:
    x, y = f.alike(x, y)
    return f.binary("-", f.binary("|", x, y), f.binary(">>", f.binary("^", x, y), 1))


# Floats.
def _saturate(f: Any, x: Any) -> Any:
    x = f.to_float(x)
    return f.select(f.binary(">", x, 0.0), f.binary("min", x, 1.0), 0.0)


def _signbit(f: Any, x: Any) -> Any:
    integer = "int64" if f.dtype(x) == "float64" else "int32"
    return f.cast(f.binary("<", f.bitcast(x, integer), 0), "int32")


def _norm(inverse: bool) -> Any:
    """The length of a vector, or 1 over it; scaled by a power of two near its greatest part, so that no square overflows."""

    def operation(f: Any, *parts: Any) -> Any:
        parts = f.alike(*parts)
        kind = f.dtype(parts[0])
        largest, infinite = None, None
        wide = [f.unary("abs", x) for x in parts]
        if kind == "float32":
            wide = [f.cast(x, "float64") for x in wide]
        for x in wide:
            largest = x if largest is None else f.binary("max", largest, x)
            here = f.binary("==", x, float("inf"))
            infinite = here if infinite is None else f.binary("or", infinite, here)
        exponent = f.binary("&", f.bitcast(largest, "int64"), 0x7FF << 52)
        exponent = f.select(f.binary("==", exponent, 0), 1 << 52, exponent)
        scale = f.bitcast(exponent, "float64")
        total = None
        for x in wide:
            x = f.binary("div_rn", x, scale)
            square = f.binary("*", x, x)
            total = square if total is None else f.binary("+", total, square)
        root = f.math("sqrt", total)
        if inverse:
            length = f.binary("div_rn", f.binary("div_rn", 1.0, root), scale)
            length = f.select(infinite, 0.0, length)
        else:
            length = f.select(infinite, float("inf"), f.binary("*", root, scale))
        return f.cast(length, kind)

    return operation


def _turns(function: str) -> Any:
    """sin or cos of pi times x: exact where x is a multiple of a half."""

    def operation(f: Any, x: Any) -> Any:
        kind = f.dtype(x)
        x = f.cast(x, "float64")
        nearest = f.math("round_even", f.binary("*", x, 2.0))
        rest = f.binary("*", f.math("fma", nearest, -0.5, x), 3.141592653589793)
        half = f.binary("*", nearest, 0.5)
        quarter = f.binary("*", f.binary("-", half, f.math("floor", half)), 2.0)  # is it odd?
        odd = f.binary(">", quarter, 0.5)
        quarters = f.binary("*", nearest, 0.25)
        place = f.binary("*", f.binary("-", quarters, f.math("floor", quarters)), 4.0)  # 0, 1, 2, 3 quarters of a turn
        sine, cosine = f.math("sin", rest), f.math("cos", rest)
        if function == "sin":
            value = f.select(odd, cosine, sine)
            negative = f.binary(">", place, 1.5)
        else:
            value = f.select(odd, f.unary("-", sine), cosine)
            negative = f.binary("and", f.binary(">", place, 1.5), True)
        value = f.select(negative, f.unary("-", value), value)
        if function == "sin":  # zeros have the sign of x
            value = f.select(f.binary("==", value, 0.0), f.math("copysign", 0.0, x), value)
        else:
            value = f.select(f.binary("==", value, 0.0), 0.0, value)
        return f.cast(value, kind)

    return operation


def _remainder(f: Any, x: Any, y: Any) -> Any:
    """IEEE 754's: less the nearest multiple, ties to the even one."""
    x, y = f.alike(x, y)
    size = f.unary("abs", y)
    rest = f.math("fmod", f.unary("abs", x), f.binary("*", size, 2.0))
    rest = f.select(f.binary("==", f.binary("*", size, 2.0), float("inf")), f.unary("abs", x), rest)
    half = f.binary("*", size, 0.5)
    once = f.select(f.binary(">", rest, half), f.binary("-", rest, size), rest)
    twice = f.select(f.binary(">=", once, half), f.binary("-", once, size), once)
    result = f.select(f.binary(">", rest, half), twice, rest)
    whole = f.select(f.math("isfinite", x), f.unary("abs", x), float("nan"))
    result = f.select(f.binary("==", size, float("inf")), whole, result)
    result = f.select(f.math("isnan", y), y, result)
    sign = f.select(f.binary("<", x, 0.0), f.unary("-", result), result)
    return f.select(f.binary("==", result, 0.0), f.math("copysign", 0.0, x), sign)


def _exponent(f: Any, x: Any) -> Any:
    """The exponent of a number that is neither 0 nor infinite, as int64."""
    wide = f.cast(x, "float64")
    small = f.binary("<", f.unary("abs", wide), 2.0**-1022)
    scaled = f.select(small, f.binary("*", wide, 2.0**54), wide)
    exponent = f.binary("&", f.binary(">>", f.bitcast(scaled, "int64"), 52), 0x7FF)
    return f.binary("-", exponent, f.select(small, f.cast(1023 + 54, "int64"), f.cast(1023, "int64")))


def _logb(f: Any, x: Any) -> Any:
    kind = f.dtype(x)
    value = f.cast(_exponent(f, x), kind)
    value = f.select(f.binary("==", x, 0.0), float("-inf"), value)
    return f.select(f.math("isfinite", x), value, f.binary("*", x, x))


def _ilogb(f: Any, x: Any) -> Any:
    value = f.cast(_exponent(f, x), "int32")
    value = f.select(f.math("isinf", x), 2**31 - 1, value)
    return f.select(f.binary("or", f.binary("==", x, 0.0), f.math("isnan", x)), -(2**31), value)


def _rcbrt(f: Any, x: Any) -> Any:
    kind = f.dtype(x)
    return f.cast(f.binary("div_rn", 1.0, f.math("cbrt", f.cast(x, "float64"))), kind)


def _normcdf(f: Any, x: Any) -> Any:
    kind = f.dtype(x)
    tail = f.math("erfc", f.binary("*", f.cast(x, "float64"), -0.7071067811865476))
    return f.cast(f.binary("*", tail, 0.5), kind)


def _erfc(f: Any, x: Any) -> Any:
    return f.cast(f.math("erfc", f.cast(x, "float64")), f.dtype(x))


_NORMAL = "1e-30 < abs({0}) < 1e30"
_NUMBER = "abs({0}) > 0"


def _every(condition: str, operands: str) -> str:
    return " and ".join(condition.format(v) for v in operands)


# fmt: off
ROWS = (
    # Bits.
    Row("popc", "x", _popc, WHOLE, INT, "How many bits are set.", "popcount(x, bits)", libdevice="popc"),
    Row("clz", "x", _clz, WHOLE, INT, "How many bits lie above the highest one that is set.", "bits - bit_length(x, bits)",
        libdevice="clz"),
    Row("ffs", "x", _ffs, WHOLE, INT, "The place of the lowest bit that is set, from 1; 0 if there is none.",
        "lowest_bit(x, bits)", libdevice="ffs"),
    Row("brev", "x", _brev, WHOLE, SAME, "The bits in reverse order.", "reversed_bits(x, bits)", libdevice="brev"),
    Row("mulhi", "x, y", "binary mulhi", WHOLE, SAME, "The upper half of the product.", "(x * y) >> bits", libdevice="mulhi"),
    Row("mul24", "x, y", _mul24, Takes(libdevice=("int32", "uint32")), SAME, "The product of the lower 24 bits.", "x * y",
        where="-(1 << 23) <= x < 1 << 23 and -(1 << 23) <= y < 1 << 23", libdevice="mul24"),
    Row("sad", "x, y, z", _sad, WHOLE, SAME, "|x - y| + z.", "abs(x - y) + z", libdevice="sad"),
    Row("hadd", "x, y", _hadd, WHOLE, SAME, "The mean, rounded down.", "(x + y) >> 1", libdevice="hadd"),
    Row("rhadd", "x, y", _rhadd, WHOLE, SAME, "The mean, rounded up.", "(x + y + 1) >> 1", libdevice="rhadd"),

    # Floats.
    Row("saturatef", "x", _saturate, F32, SAME, "x limited to [0, 1]; NaN gives 0.", "fmin(fmax(x, 0), 1)", ulps=0.5,
        where="x == x", libdevice="saturatef"),
    Row("signbit", "x", _signbit, BOTH, INT, "1 if the sign is negative, of zeros and NaN, too.", "signbit(x)",
        where="x == x", libdevice="signbit signbitf signbitd"),
    Row("hypot", "x, y", _norm(False), BOTH, SAME, "The length of (x, y).", "sqrt(x * x + y * y)",
        where=_every(_NUMBER, "xy"), libdevice="hypot"),
    Row("rhypot", "x, y", _norm(True), BOTH, SAME, "1 over the length of (x, y).", "1 / sqrt(x * x + y * y)", ulps=3,
        libdevice="rhypot", where=_every(_NORMAL, "xy")),
    Row("norm3d", "x, y, z", _norm(False), BOTH, SAME, "The length of (x, y, z).", "sqrt(x * x + y * y + z * z)",
        where=_every(_NUMBER, "xyz"), libdevice="norm3d"),
    Row("rnorm3d", "x, y, z", _norm(True), BOTH, SAME, "1 over the length of (x, y, z).", "1 / sqrt(x * x + y * y + z * z)",
        ulps=3, where=_every(_NORMAL, "xyz"), libdevice="rnorm3d"),
    Row("norm4d", "x, y, z, w", _norm(False), BOTH, SAME, "The length of (x, y, z, w).", "sqrt(x * x + y * y + z * z + w * w)",
        where=_every(_NUMBER, "xyzw"), libdevice="norm4d"),
    Row("rnorm4d", "x, y, z, w", _norm(True), BOTH, SAME, "1 over the length of (x, y, z, w).",
        "1 / sqrt(x * x + y * y + z * z + w * w)", ulps=3, where=_every(_NORMAL, "xyzw"),
        libdevice="rnorm4d"),
    Row("sinpi", "x", _turns("sin"), BOTH, SAME, "The sine of pi times x.", "sinpi(x)", ulps=3, where="abs(x) < 1e15",
        libdevice="sinpi"),
    Row("cospi", "x", _turns("cos"), BOTH, SAME, "The cosine of pi times x.", "cospi(x)", ulps=3, where="abs(x) < 1e15",
        libdevice="cospi"),
    Row("remainder", "x, y", _remainder, BOTH, SAME, "x less the nearest multiple of y.", "x - y * rint(x / y)", ulps=0.5,
        where="y != 0 and abs(x) < 1e30 and 1e-30 < abs(y) < 1e30", libdevice="remainder"),
    Row("logb", "x", _logb, BOTH, SAME, "The exponent of x, as a float.", "frexp(x)[1] - 1", ulps=0.5,
        where="0 < abs(x) < 1e305", libdevice="logb"),
    Row("ilogb", "x", _ilogb, BOTH, INT, "The exponent of x.", "floor(log2(abs(x)))", where="1e-30 < abs(x) < 1e30",
        libdevice="ilogb"),
    Row("rcbrt", "x", _rcbrt, BOTH, SAME, "1 over the cube root.", "1 / cbrt(x)", ulps=5, where="x != 0", libdevice="rcbrt"),
    Row("erfc", "x", _erfc, BOTH, SAME, "1 less the error function, exact where that is near 1.", "erfc(x)", ulps=3,
        where="-6 < x < 26", libdevice="erfc"),
    Row("normcdf", "x", _normcdf, BOTH, SAME, "The standard normal distribution below x.", "erfc(-x / sqrt(2)) / 2", ulps=600,
        where="-12 < x < 12", libdevice="normcdf"),
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
