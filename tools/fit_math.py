"""Fits the polynomials of math_f32.cpp (compiler/lower, compiler/targets/cuda) and compiler/lower/math_wide.cpp: weighted Remez in 60 digits, coefficients rounded to f32 (f64)
one after another.

Run it to print the tables that stand there. Needs mpmath and numpy.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60


def remez(f, weight, lo, hi, degree, rounds=12):
    """Coefficients c[0..degree] that nearly minimise max |weight * (f - poly)| on [lo, hi]."""
    n = degree + 2
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)][::-1]
    grid = [lo + (hi - lo) * mp.mpf(i) / 1200 for i in range(1201)]
    fg, wg = [f(x) for x in grid], [weight(x) for x in grid]
    for _ in range(rounds):
        a = mp.matrix(n, n)
        b = mp.matrix(n, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                a[i, j] = x ** j
            a[i, degree + 1] = (-1) ** i / weight(x)
            b[i] = f(x)
        c = mp.lu_solve(a, b)
        err = [w * (y - mp.polyval([c[j] for j in range(degree, -1, -1)], x)) for x, y, w in zip(grid, fg, wg)]
        extrema, k = [], 0
        while k < len(grid):  # one extremum for each run of equal sign
            end = k
            while end < len(grid) and (err[end] >= 0) == (err[k] >= 0):
                end += 1
            extrema.append(max(range(k, end), key=lambda i: abs(err[i])))
            k = end
        if len(extrema) < n:
            break
        while len(extrema) > n:
            extrema.pop(0 if abs(err[extrema[0]]) < abs(err[extrema[-1]]) else -1)
        nodes = [grid[i] for i in extrema]
    return [c[j] for j in range(degree + 1)], max(abs(e) for e in err)


def taylor_safe(f, series, threshold=mp.mpf("1e-9")):
    return lambda x: series(x) if abs(x) < threshold else f(x)


def fits():
    ln2 = mp.log(2)
    h = ln2 / 2 * mp.mpf("1.01")
    yield "exp", remez(taylor_safe(lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: mp.mpf(1) / 2 + r / 6),
                       lambda r: r ** 2 / mp.exp(r) if r else mp.mpf("1e-12"), -h, h, 4)
    e = mp.mpf("0.505")
    yield "exp2", remez(taylor_safe(lambda r: (2 ** r - 1) / r, lambda r: ln2 + r * ln2 ** 2 / 2), lambda r: abs(r) + mp.mpf("1e-3"), -e, e, 5)
    lo, hi = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(mp.mpf(2)) - 1
    yield "log", remez(taylor_safe(lambda f: (mp.log(1 + f) - f + f * f / 2) / f ** 3, lambda f: mp.mpf(1) / 3 - f / 4, mp.mpf("1e-8")),
                       lambda f: abs(f ** 3 / mp.log(1 + f)) if abs(f) > mp.mpf("1e-8") else mp.mpf("1e-12"), lo, hi, 7)
    t = mp.mpf("0.56") ** 2
    yield "tanh", remez(taylor_safe(lambda s: (mp.tanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: -mp.mpf(1) / 3 + s * 2 / 15, mp.mpf("1e-12")),
                        lambda s: s + mp.mpf("1e-3"), mp.mpf(0), t, 4)
    s = mp.mpf("0.93") ** 2
    yield "erf_small", remez(taylor_safe(lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1, lambda s: 2 / mp.sqrt(mp.pi) - 1 - s * 2 / (3 * mp.sqrt(mp.pi)), mp.mpf("1e-14")),
                             lambda s: mp.mpf(1), mp.mpf(0), s, 5)
    yield "erf_large", remez(lambda t: -mp.log(mp.erfc(t)) - t, lambda t: mp.erfc(t), mp.mpf("0.92"), mp.mpf(4), 7)
    log2_erfc = lambda t: mp.log(mp.erfc(t), 2)
    yield "erf_large, GPU", remez(log2_erfc, lambda t: mp.log(2) * mp.erfc(t), mp.mpf("0.92"), mp.mpf(4), 7)
    yield "erf nearly, GPU", remez(taylor_safe(lambda t: log2_erfc(t) / t, lambda t: -(2 / mp.sqrt(mp.pi) + t * 2 / mp.pi) / mp.log(2), mp.mpf("1e-7")),
                                   lambda t: (t + mp.mpf("1e-3")) * mp.log(2) * mp.erfc(t) + mp.mpf("1e-12"), mp.mpf(0), mp.mpf(4), 7)
    q = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    yield "sin", remez(taylor_safe(lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: -mp.mpf(1) / 6 + s / 120, mp.mpf("1e-12")),
                       lambda s: s + mp.mpf("1e-3"), mp.mpf(0), q, 3)
    yield "cos", remez(taylor_safe(lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s ** 2, lambda s: mp.mpf(1) / 24 - s / 720, mp.mpf("1e-12")),
                       lambda s: s ** 2 + mp.mpf("1e-3"), mp.mpf(0), q, 2)


def wide_fits():
    """Those of math_wide.cpp, whose coefficients are f64."""
    h = mp.log(2) / 2 * mp.mpf("1.01")
    yield "expm1", remez(taylor_safe(lambda r: (mp.expm1(r) - r) / r ** 2, lambda r: mp.mpf(1) / 2 + r / 6 + r * r / 24, mp.mpf("1e-10")),
                         lambda r: abs(r) + mp.mpf("1e-3"), -h, h, 6)
    lo, hi = mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(mp.mpf(2)) - 1
    for name, degree in ("log", 8), ("log, precise", 11):
        yield name, remez(taylor_safe(lambda f: (mp.log(1 + f) - f + f * f / 2) / f ** 3, lambda f: mp.mpf(1) / 3 - f / 4 + f * f / 5, mp.mpf("1e-12")),
                          lambda f: abs(f ** 3 / mp.log(1 + f)) if abs(f) > mp.mpf("1e-12") else mp.mpf("1e-14"), lo, hi, degree)
    yield "atanh", remez(taylor_safe(lambda s: (mp.atanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: mp.mpf(1) / 3 + s / 5, mp.mpf("1e-12")),
                         lambda s: s * mp.sqrt(s) / mp.atanh(mp.sqrt(s)) if s else mp.mpf("1e-10"), mp.mpf(0), mp.mpf("0.2001") ** 2, 3)
    yield "atan", remez(taylor_safe(lambda s: (mp.atan(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: -mp.mpf(1) / 3 + s / 5 - s * s / 7, mp.mpf("1e-12")),
                        lambda s: s * mp.sqrt(s) / mp.atan(mp.sqrt(s)) if s else mp.mpf("1e-10"), mp.mpf(0), mp.mpf(1), 9)
    yield "asin", remez(taylor_safe(lambda s: (mp.asin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: mp.mpf(1) / 6 + s * 3 / 40 + s * s * 15 / 336, mp.mpf("1e-12")),
                        lambda s: s * mp.sqrt(s) / mp.asin(mp.sqrt(s)) if s else mp.mpf("1e-10"), mp.mpf(0), mp.mpf("0.25"), 6)
    log2_erfc = lambda t: mp.log(mp.erfc(t), 2)
    yield "erf_large, GPU", remez(log2_erfc, lambda t: mp.log(2) * mp.erfc(t), mp.mpf("0.92"), mp.mpf(4), 7)
    yield "erf nearly, GPU", remez(taylor_safe(lambda t: log2_erfc(t) / t, lambda t: -(2 / mp.sqrt(mp.pi) + t * 2 / mp.pi) / mp.log(2), mp.mpf("1e-7")),
                                   lambda t: (t + mp.mpf("1e-3")) * mp.log(2) * mp.erfc(t) + mp.mpf("1e-12"), mp.mpf(0), mp.mpf(4), 7)
    q = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    yield "sin", remez(taylor_safe(lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: -mp.mpf(1) / 6 + s / 120, mp.mpf("1e-12")),
                       lambda s: s + mp.mpf("1e-6"), mp.mpf(0), q, 4)
    yield "cos", remez(taylor_safe(lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s ** 2, lambda s: mp.mpf(1) / 24 - s / 720 + s * s / 40320, mp.mpf("1e-10")),
                       lambda s: s ** 2 + mp.mpf("1e-6"), mp.mpf(0), q, 3)
    def scaled(t):  # erfcx(a) (1 + 2a) at t = (a - 2) / (a + 2)
        a = 2 * (1 + t) / (1 - t)
        return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)
    end = mp.mpf("10.3")
    yield "erfc", remez(scaled, lambda t: 1 / scaled(t), mp.mpf(-1), (end - 2) / (end + 2), 12)


if __name__ == "__main__":
    for name, (c, error) in fits():
        print(f"{name:10s} max weighted error 2^{float(mp.log(error, 2)):.1f}:", ", ".join(repr(float(np.float32(float(x)))) for x in c))
    for name, (c, error) in wide_fits():
        print(f"{name:10s} max weighted error 2^{float(mp.log(error, 2)):.1f}:", ", ".join(repr(float(x)) for x in c))
