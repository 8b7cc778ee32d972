# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from typing import Any

from .types import constexpr
from .value import tensor
from .bessel import jn as jn
from .bessel import yn as yn

def exp(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x."""

def fast_expf(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x."""

def exp2(arg0: tensor | constexpr | float) -> tensor:
    """2 to the power of x."""

def fast_exp2f(arg0: tensor | constexpr | float) -> tensor:
    """2 to the power of x."""

def exp10(arg0: tensor | constexpr | float) -> tensor:
    """10 to the power of x."""

def expm1(arg0: tensor | constexpr | float) -> tensor:
    """e to the power of x, less 1, exact near 0."""

def log(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm."""

def fast_logf(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm."""

def log2(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 2."""

def fast_log2f(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 2."""

def log10(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 10."""

def log1p(arg0: tensor | constexpr | float) -> tensor:
    """The natural logarithm of 1 + x, exact near 0."""

def pow(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x to the power of y, as a float."""

def fast_powf(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x to the power of y, as a float."""

def sin(arg0: tensor | constexpr | float) -> tensor:
    """The sine."""

def fast_sinf(arg0: tensor | constexpr | float) -> tensor:
    """The sine."""

def cos(arg0: tensor | constexpr | float) -> tensor:
    """The cosine."""

def fast_cosf(arg0: tensor | constexpr | float) -> tensor:
    """The cosine."""

def tan(arg0: tensor | constexpr | float) -> tensor:
    """The tangent."""

def asin(arg0: tensor | constexpr | float) -> tensor:
    """The arc sine."""

def acos(arg0: tensor | constexpr | float) -> tensor:
    """The arc cosine."""

def atan(arg0: tensor | constexpr | float) -> tensor:
    """The arc tangent."""

def atan2(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The angle of the point (x, y)."""

def sinh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic sine."""

def cosh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic cosine."""

def tanh(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic tangent."""

def fast_tanhf(arg0: tensor | constexpr | float) -> tensor:
    """The hyperbolic tangent."""

def asinh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic sine."""

def acosh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic cosine."""

def atanh(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the hyperbolic tangent."""

def sqrt(arg0: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def sqrt_rn(arg0: tensor | constexpr | float) -> tensor:
    """The square root, correctly rounded."""

def rsqrt(arg0: tensor | constexpr | float) -> tensor:
    """1 over the square root."""

def cbrt(arg0: tensor | constexpr | float) -> tensor:
    """The cube root."""

def erf(arg0: tensor | constexpr | float) -> tensor:
    """The error function."""

def floor(arg0: tensor | constexpr | float) -> tensor:
    """The greatest integer that is at most x, as a float."""

def ceil(arg0: tensor | constexpr | float) -> tensor:
    """The smallest integer that is at least x, as a float."""

def trunc(arg0: tensor | constexpr | float) -> tensor:
    """x without its fraction, as a float."""

def rint(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties to the even one, as a float."""

def nearbyint(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties to the even one, as a float."""

def round(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties away from 0, as a float."""

def isnan(arg0: tensor | constexpr | float) -> tensor:
    """Is x NaN?"""

def isinf(arg0: tensor | constexpr | float) -> tensor:
    """Is x an infinity?"""

def isfinited(arg0: tensor | constexpr | float) -> tensor:
    """Is x neither NaN nor an infinity?"""

def finitef(arg0: tensor | constexpr | float) -> tensor:
    """Is x neither NaN nor an infinity?"""

def copysign(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x with the sign of y."""

def abs(arg0: tensor | constexpr | float) -> tensor:
    """The absolute value."""

def fma(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """x * y + z with one rounding."""

def fdiv(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, ieee_rounding: Any = ...) -> tensor:
    """x / y of floats; of float32 correctly rounded only if asked."""

def div_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x / y of floats, correctly rounded."""

def fast_dividef(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x / y."""

def fmod(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The remainder of x / y with the sign of x, as a float."""

def fdim(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x - y where x is greater, else 0."""

def popc(arg0: tensor | constexpr | float) -> tensor:
    """How many bits are set."""

def clz(arg0: tensor | constexpr | float) -> tensor:
    """How many bits lie above the highest one that is set."""

def ffs(arg0: tensor | constexpr | float) -> tensor:
    """The place of the lowest bit that is set, from 1; 0 if there is none."""

def brev(arg0: tensor | constexpr | float) -> tensor:
    """The bits in reverse order."""

def mulhi(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The upper half of the product."""

def mul24(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The product of the lower 24 bits."""

def sad(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """|x - y| + z."""

def hadd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The mean, rounded down."""

def rhadd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The mean, rounded up."""

def saturatef(arg0: tensor | constexpr | float) -> tensor:
    """x limited to [0, 1]; NaN gives 0."""

def signbit(arg0: tensor | constexpr | float) -> tensor:
    """1 if the sign is negative, of zeros and NaN, too."""

def signbitf(arg0: tensor | constexpr | float) -> tensor:
    """1 if the sign is negative, of zeros and NaN, too."""

def signbitd(arg0: tensor | constexpr | float) -> tensor:
    """1 if the sign is negative, of zeros and NaN, too."""

def hypot(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The length of (x, y)."""

def rhypot(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """1 over the length of (x, y)."""

def norm3d(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """The length of (x, y, z)."""

def rnorm3d(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """1 over the length of (x, y, z)."""

def norm4d(
    arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float, arg3: tensor | constexpr | float,
) -> tensor:
    """The length of (x, y, z, w)."""

def rnorm4d(
    arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float, arg3: tensor | constexpr | float,
) -> tensor:
    """1 over the length of (x, y, z, w)."""

def sinpi(arg0: tensor | constexpr | float) -> tensor:
    """The sine of pi times x."""

def cospi(arg0: tensor | constexpr | float) -> tensor:
    """The cosine of pi times x."""

def remainder(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x less the nearest multiple of y."""

def logb(arg0: tensor | constexpr | float) -> tensor:
    """The exponent of x, as a float."""

def ilogb(arg0: tensor | constexpr | float) -> tensor:
    """The exponent of x."""

def rcbrt(arg0: tensor | constexpr | float) -> tensor:
    """1 over the cube root."""

def erfc(arg0: tensor | constexpr | float) -> tensor:
    """1 less the error function, exact where that is near 1."""

def normcdf(arg0: tensor | constexpr | float) -> tensor:
    """The standard normal distribution below x."""

def fast_tanf(arg0: tensor | constexpr | float) -> tensor:
    """The tangent."""

def fast_exp10f(arg0: tensor | constexpr | float) -> tensor:
    """10 to the power of x."""

def fast_log10f(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm to base 10."""

def llrint(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties to the even one."""

def llround(arg0: tensor | constexpr | float) -> tensor:
    """The nearest integer, ties away from 0."""

def rsqrt_rn(arg0: tensor | constexpr | float) -> tensor:
    """1 over the square root."""

def erfinv(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the error function."""

def erfcinv(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of erfc."""

def normcdfinv(arg0: tensor | constexpr | float) -> tensor:
    """The inverse of the standard normal distribution."""

def erfcx(arg0: tensor | constexpr | float) -> tensor:
    """exp(x * x) * erfc(x)."""

def tgamma(arg0: tensor | constexpr | float) -> tensor:
    """The gamma function."""

def lgamma(arg0: tensor | constexpr | float) -> tensor:
    """The logarithm of the gamma function's size."""

def cyl_bessel_i0(arg0: tensor | constexpr | float) -> tensor:
    """The modified Bessel function of order 0."""

def cyl_bessel_i1(arg0: tensor | constexpr | float) -> tensor:
    """The modified Bessel function of order 1."""

def j0(arg0: tensor | constexpr | float) -> tensor:
    """The Bessel function of the first kind of order 0."""

def j1(arg0: tensor | constexpr | float) -> tensor:
    """The Bessel function of the first kind of order 1."""

def y0(arg0: tensor | constexpr | float) -> tensor:
    """The Bessel function of the second kind of order 0."""

def y1(arg0: tensor | constexpr | float) -> tensor:
    """The Bessel function of the second kind of order 1."""

def add_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def sub_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def mul_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def rcp_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def fma_rn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def add_rz(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def sub_rz(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def mul_rz(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def div_rz(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def rcp_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def sqrt_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def fma_rz(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def add_rd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def sub_rd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def mul_rd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def div_rd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def rcp_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def sqrt_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def fma_rd(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def add_ru(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def sub_ru(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def mul_ru(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def div_ru(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def rcp_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def sqrt_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def fma_ru(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def float2int_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def int2float_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def float2uint_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def uint2float_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def float2ll_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def ll2float_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def float2ull_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def ull2float_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def double2int_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def int2double_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def double2uint_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def uint2double_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def double2ll_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def ll2double_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def double2ull_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest; beyond the range the nearest one."""

def ull2double_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def double2float_rn(arg0: tensor | constexpr | float) -> tensor:
    """Rounded to nearest."""

def float2int_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def int2float_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def float2uint_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def uint2float_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def float2ll_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def ll2float_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def float2ull_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def ull2float_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def double2int_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def double2uint_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def double2ll_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def ll2double_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def double2ull_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero; beyond the range the nearest one."""

def ull2double_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def double2float_rz(arg0: tensor | constexpr | float) -> tensor:
    """Rounded toward zero."""

def float2int_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def int2float_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def float2uint_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def uint2float_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def float2ll_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def ll2float_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def float2ull_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def ull2float_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def double2int_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def double2uint_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def double2ll_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def ll2double_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def double2ull_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down; beyond the range the nearest one."""

def ull2double_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def double2float_rd(arg0: tensor | constexpr | float) -> tensor:
    """Rounded down."""

def float2int_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def int2float_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def float2uint_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def uint2float_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def float2ll_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def ll2float_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def float2ull_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def ull2float_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def double2int_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def double2uint_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def double2ll_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def ll2double_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def double2ull_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up; beyond the range the nearest one."""

def ull2double_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def double2float_ru(arg0: tensor | constexpr | float) -> tensor:
    """Rounded up."""

def int_as_float(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as float32."""

def float_as_int(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as int32."""

def uint_as_float(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as float32."""

def float_as_uint(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as uint32."""

def longlong_as_double(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as float64."""

def double_as_longlong(arg0: tensor | constexpr | float) -> tensor:
    """The bits of x as int64."""

def nextafter(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The neighbour of x towards y."""

def ldexp(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x times a power of two, rounded once."""

def scalbn(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """x times a power of two, rounded once."""

def hiloint2double(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float) -> tensor:
    """The number with these halves."""

def double2loint(arg0: tensor | constexpr | float) -> tensor:
    """The lower half of the bits."""

def double2hiint(arg0: tensor | constexpr | float) -> tensor:
    """The upper half of the bits."""

def rcp64h(arg0: tensor | constexpr | float) -> tensor:
    """1 / x, of which the upper half counts."""

def byte_perm(arg0: tensor | constexpr | float, arg1: tensor | constexpr | float, arg2: tensor | constexpr | float) -> tensor:
    """Four bytes of y and x, as the nibbles of s name them."""
