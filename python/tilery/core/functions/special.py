"""Special functions that only CUDA's libdevice has, one row each."""

from .row import SAME, SINGLE, Row, Takes

BOTH = Takes(libdevice=SINGLE)

# fmt: off
ROWS = (
    Row("erfinv", "x", "function erfinv", BOTH, SAME, "The inverse of the error function.", "erfinv(x)", ulps=16,
        where="abs(x) <= 1", libdevice="erfinv"),
    Row("erfcinv", "x", "function erfcinv", BOTH, SAME, "The inverse of erfc.", "erfinv(1 - x)", ulps=64,
        where="1e-14 < x < 1.999 and (x == 1 or abs(x - 1) > 1e-6)", libdevice="erfcinv"),
    Row("normcdfinv", "x", "function normcdfinv", BOTH, SAME, "The inverse of the standard normal distribution.",
        "sqrt(2) * erfinv(2 * x - 1)", ulps=64, where="1e-14 < x < 0.999 and abs(x - 0.5) > 1e-6 or x == 1",
        libdevice="normcdfinv"),
    Row("erfcx", "x", "function erfcx", BOTH, SAME, "exp(x * x) * erfc(x).", "exp(x * x) * erfc(x)", ulps=16,
        where="-5 < x < 1e4", libdevice="erfcx"),
    Row("tgamma", "x", "function tgamma", BOTH, SAME, "The gamma function.", "gamma(x)", ulps=600,
        where="1e-3 < x < 100 or -20 < x < -1e-3 and abs(x - round(x)) > 1e-2", libdevice="tgamma"),
    Row("lgamma", "x", "function lgamma", BOTH, SAME, "The logarithm of the gamma function's size.", "log(abs(gamma(x)))",
        ulps=600, where="1e-3 < x < 0.9 or 1.1 < x < 1.9 or 2.1 < x < 1e4 or x == 1", libdevice="lgamma"),
    Row("cyl_bessel_i0", "x", "function cyl_bessel_i0", BOTH, SAME, "The modified Bessel function of order 0.", "besseli(0, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i0"),
    Row("cyl_bessel_i1", "x", "function cyl_bessel_i1", BOTH, SAME, "The modified Bessel function of order 1.", "besseli(1, x)",
        ulps=80, where="0 < abs(x) < 85", libdevice="cyl_bessel_i1"),
    Row("j0", "x", "function j0", BOTH, SAME, "The Bessel function of the first kind of order 0.", "besselj(0, x)",
        ulps=64, where="abs(x) < 2 or 3 < abs(x) < 5", libdevice="j0"),
    Row("j1", "x", "function j1", BOTH, SAME, "The Bessel function of the first kind of order 1.", "besselj(1, x)",
        ulps=64, where="1e-30 < abs(x) < 3", libdevice="j1"),
    Row("y0", "x", "function y0", BOTH, SAME, "The Bessel function of the second kind of order 0.", "bessely(0, x)",
        ulps=64, where="1e-30 < x < 0.8 or 1 <= x < 3.5", libdevice="y0"),
    Row("y1", "x", "function y1", BOTH, SAME, "The Bessel function of the second kind of order 1.", "bessely(1, x)",
        ulps=64, where="1e-30 < x < 2 or 2.4 < x < 5", libdevice="y1"),
)
# fmt: on
