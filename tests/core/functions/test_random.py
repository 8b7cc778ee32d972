"""Random numbers: the generator bit for bit against one in NumPy, which itself is checked by published numbers and by NumPy's
own; uniform and normal floats against float64; and how they are distributed."""

import numpy as np
import pytest
import torch
from core.functions import kernels

PROGRAMS, LANES = 4, 256
COUNT = PROGRAMS * LANES
TAKES = ("int32", "uint32", "int64", "uint64")
U = 2.0**-24  # of float32
FUNCTION = 4  # units of error of one function
MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
# From the paper's library: counter, key, result.
PUBLISHED = {
    32: [
        ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
    64: [
        ("0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
        (
            "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
            "452821e638d01377 be5466cf34e90c6c",
            "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
        ),
    ],
}


def philox(bits, counter, key, rounds=10):
    """Philox 4x32 or 4x64 on Python's ints."""
    (m0, m1), mask, (c0, c1, c2, c3), (k0, k1) = MULTIPLIERS[bits], (1 << bits) - 1, counter, key
    for _ in range(rounds):
        p0, p1 = m0 * c0, m1 * c2
        c0, c1, c2, c3 = p1 >> bits ^ c1 ^ k0, p1 & mask, p0 >> bits ^ c3 ^ k1, p0 & mask
        k0, k1 = k0 + STEPS[bits][0] & mask, k1 + STEPS[bits][1] & mask
    return c0, c1, c2, c3


def words(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize("bits", PUBLISHED)
def test_the_reference(bits):
    for counter, key, result in PUBLISHED[bits]:
        assert list(philox(bits, words(counter), words(key))) == words(result)
    if bits == 64:
        own = np.random.Philox(counter=[6, 7, 8, 9], key=[10, 11])  # it counts before it generates
        assert own.random_raw(4).tolist() == list(philox(64, (7, 7, 8, 9), (10, 11)))


def integers(dtype, seed):
    random = np.random.default_rng(seed)
    return random.integers(0, 256, COUNT * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)


def launch(folder, device, text, inputs, outputs, *scalars):
    """What a body over x0, x1, ..., numbers n0, ... and lanes i stores through o0, o1, ..."""
    parts = {"x{}_ptr": inputs, "n{}": scalars, "o{}": outputs}
    names = [name.format(k) for name, items in parts.items() for k in range(len(items))]
    head = f"@tileon.jit\ndef kernel({', '.join(names)}):\n    i = tl.program_id(0) * {LANES} + tl.arange(0, {LANES})\n"
    head += "".join(f"    x{k} = tl.load(x{k}_ptr + i)\n" for k in range(len(inputs)))
    made = [torch.zeros(COUNT, dtype=getattr(torch, dtype), device=device) for dtype in outputs]
    kernel = kernels.load(folder, head + "".join(f"    {line}\n" for line in text.splitlines()))
    kernel[(PROGRAMS,)](*(kernels.to_torch(x, device) for x in inputs), *scalars, *made)
    return [kernels.to_numpy(tensor, dtype) for tensor, dtype in zip(made, outputs)]


def key_of(bits, seed):
    seed %= 1 << 64
    return (seed & 0xFFFFFFFF, seed >> 32) if bits == 32 else (seed, 0)


STORES = "".join(f"tl.store(o{k} + i, {'abcd'[k]})\n" for k in range(4))


@pytest.mark.parametrize("bits", PUBLISHED)
@pytest.mark.parametrize("rounds", [10, 6])
def test_philox_impl(device, bits, rounds, tmp_path):
    inputs = [integers(f"uint{bits}", k) for k in range(6)]
    for k, (counter, key, _) in enumerate(PUBLISHED[bits]):
        for x, word in zip(inputs, words(counter) + words(key)):
            x[k] = word
    text = f"a, b, c, d = tl.random.philox_impl(x0, x1, x2, x3, x4, x5, {rounds})\n" + STORES
    got = launch(tmp_path, device, text, inputs, [f"uint{bits}"] * 4)
    for lane, x in enumerate(zip(*(x.tolist() for x in inputs))):
        assert [g[lane] for g in got] == list(philox(bits, x[:4], x[4:], rounds))


@pytest.mark.parametrize("seed", [0, 42, -1, 2**31 + 5, 2**40 + 3, -(2**50)])
@pytest.mark.parametrize("dtype", TAKES)
def test_philox(device, dtype, seed, tmp_path):
    """Counters of every type, seeds of 32 and of 64 bits, as numbers of the launch."""
    inputs, bits = [integers(dtype, k) for k in range(4)], int(dtype[-2:])
    text = "a, b, c, d = tl.philox(n0, x0, x1, x2, x3)\n" + STORES
    got = launch(tmp_path, device, text, inputs, [f"uint{bits}"] * 4, seed)
    for lane, x in enumerate(zip(*(x.view(f"uint{bits}").tolist() for x in inputs))):
        assert [g[lane] for g in got] == list(philox(bits, x, key_of(bits, seed)))


def wanted(offsets, seed, rounds=10):
    """The four ints of each offset: one of 64 bits is two words of the counter."""
    lanes = (int(x) % (1 << 64 if offsets.itemsize == 8 else 1 << 32) for x in offsets)
    return np.array([philox(32, (x & 0xFFFFFFFF, x >> 32, 0, 0), key_of(32, seed), rounds) for x in lanes], np.uint32).T


@pytest.mark.parametrize("dtype", TAKES)
def test_ints(device, dtype, tmp_path):
    """Of offsets of every type; seeds as numbers in the program and as tiles."""
    offsets, seeds = integers(dtype, 5), integers("int64", 6)
    text = "a, b, c, d = tl.randint4x(77, x0)\n" + STORES
    text += "tl.store(o4 + i, tl.randint(77, x0))\ntl.store(o5 + i, tl.randint(x1, x0, n_rounds=7))\n"
    *four, one, short = launch(tmp_path, device, text, [offsets, seeds], ["uint32"] * 6)
    assert np.array_equal(np.stack(four), wanted(offsets, 77)) and np.array_equal(one, four[0])
    assert short.tolist() == [int(wanted(offsets[k : k + 1], int(seeds[k]), 7)[0, 0]) for k in range(COUNT)]


def uniform(x):
    """float32 of the magnitude of signed ints, times a constant: two roundings."""
    signed = x.view(f"int{8 * x.itemsize}")
    size = np.where(signed < 0, -1 - signed, signed).astype(np.float32)
    return size * np.float32({4: 4.6566127342e-10, 8: 1.0842020432385337e-19}[x.itemsize])


@pytest.mark.parametrize("dtype", TAKES)
def test_uint_to_uniform_float(device, dtype, tmp_path):
    x, info = integers(dtype, 7), np.iinfo(dtype)
    x[:6] = info.min, info.max, 0, 1, info.max // 2, info.max // 2 + 1
    (got,) = launch(tmp_path, device, "tl.store(o0 + i, tl.uint_to_uniform_float(x0))", [x], ["float32"])
    assert np.array_equal(got, uniform(x)) and 0 <= got.min() and got.max() < 1


def normals(u1, u2):
    """Both numbers that Box and Muller make of two uniform ones, in float64, and how far from them float32 may be: the angle is
    off by two roundings (of 2 pi, of the product), which counts at most as much in cosine and sine, themselves functions; the
    logarithm by a function, of which the root halves the error and adds its own; the last product by a rounding."""
    u1, u2 = np.maximum(np.float32(1e-7), u1).astype(np.float64), u2.astype(np.float64)
    radius, angle = np.sqrt(-2 * np.log(u1)), 2 * np.pi * u2
    error = 1.01 * U * radius * (2 * angle + FUNCTION + FUNCTION / 2 + FUNCTION + 1)
    return (radius * np.cos(angle), radius * np.sin(angle)), error


def near(got, exact, error):
    assert (np.abs(got.astype(np.float64) - exact) <= error).all()


def test_pair_uniform_to_normal(device, tmp_path):
    u1, u2 = np.random.default_rng(8).random((2, COUNT), np.float32)
    u1[:6], u2[:6] = [0, 1e-8, 0.99999994, 0.5, 1e-7, 1], [0, 0.25, 0.5, 0.75, 0.99999994, 0.125]
    text = "a, b = tl.pair_uniform_to_normal(x0, x1)\ntl.store(o0 + i, a)\ntl.store(o1 + i, b)"
    got, (exact, error) = launch(tmp_path, device, text, [u1, u2], ["float32"] * 2), normals(u1, u2)
    near(got[0], exact[0], error)
    near(got[1], exact[1], error)


@pytest.mark.parametrize("dtype", TAKES)
def test_floats(device, dtype, tmp_path):
    offsets, seed = integers(dtype, 9), 2**35 + 1
    text = "a, b, c, d = tl.rand4x(n0, x0)\n" + STORES + "tl.store(o4 + i, tl.rand(n0, x0))\n"
    text += "a, b, c, d = tl.randn4x(n0, x0)\n" + "".join(f"tl.store(o{5 + k} + i, {'abcd'[k]})\n" for k in range(4))
    text += "tl.store(o9 + i, tl.randn(n0, x0))\n"
    got = launch(tmp_path, device, text, [offsets], ["float32"] * 10, seed)
    u = uniform(wanted(offsets, seed))
    assert np.array_equal(np.stack(got[:4]), u) and np.array_equal(got[4], u[0])
    for pair in range(2):
        exact, error = normals(u[2 * pair], u[2 * pair + 1])
        near(got[5 + 2 * pair], exact[0], error)
        near(got[6 + 2 * pair], exact[1], error)
    assert np.array_equal(got[9], got[5])


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16"])
def test_counters_of_other_sizes_are_refused(dtype, tmp_path):
    for call in ("philox(1, x0, x0, x0, x0)", "rand(1, x0)", "randn4x(1, x0)"):
        with pytest.raises(ValueError, match=f"philox takes counters of 32 or 64 bits, got {dtype}"):
            launch(tmp_path, "cpu", f"a = tl.{call}", [np.zeros(COUNT, dtype)], [])
    with pytest.raises(ValueError, match="uint_to_uniform_float takes 32- or 64-bit ints"):
        launch(tmp_path, "cpu", "a = tl.uint_to_uniform_float(x0)", [np.zeros(COUNT, dtype)], [])


MANY = 1 << 18


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Consecutive offsets under neighbouring seeds: [seed][function][output]."""
    folder, found = tmp_path_factory.mktemp("kernels"), []
    names = [f"o{k}" for k in range(8)]
    text = f"@tileon.jit\ndef kernel(seed, {', '.join(names)}):\n    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
    for n, function in enumerate(("rand4x", "randn4x")):
        text += f"    a, b, c, d = tl.{function}(seed, i)\n"
        text += "".join(f"    tl.store(o{4 * n + k} + i, {'abcd'[k]})\n" for k in range(4))
    kernel = kernels.load(folder, text)
    for seed in (1, 2):
        made = [torch.zeros(MANY) for _ in names]
        kernel[(MANY // 1024,)](seed, *made)
        found.append([[tensor.numpy().astype(np.float64) for tensor in made[4 * n : 4 * n + 4]] for n in range(2)])
    return found


# Deviations in standard deviations of what they have when numbers are independent: 5 of them come once in a million.
def test_uniform_floats_fill_all_bins(samples):
    bins = 1024
    for x in samples[0][0]:
        counts, mean = np.bincount((x * bins).astype(int), minlength=bins), MANY / bins
        chi = ((counts - mean) ** 2 / mean).sum()
        assert len(counts) == bins and abs(chi - (bins - 1)) < 5 * (2 * (bins - 1)) ** 0.5


def test_moments(samples):
    """Sums of powers; the variance of a power is the double power's mean less the square of its mean."""
    uniform_moments, normal_moments = [1 / (n + 1) for n in range(9)], [1, 0, 1, 0, 3, 0, 15, 0, 105]
    for kind, moments in enumerate((uniform_moments, normal_moments)):
        for x in samples[0][kind]:
            for power in range(1, 5):
                spread = ((moments[2 * power] - moments[power] ** 2) / MANY) ** 0.5
                assert abs((x**power).mean() - moments[power]) < 5 * spread


def test_normal_floats_have_tails(samples):
    for x in samples[0][1]:
        for limit, share in ((1, 0.31731050786), (2, 0.04550026390), (3, 0.00269979606), (4, 6.334248e-5)):
            assert abs((np.abs(x) > limit).sum() - share * MANY) < 5 * (share * MANY) ** 0.5


def test_nothing_is_correlated(samples):
    """Outputs with each other, neighbouring offsets, neighbouring seeds; signs with sizes of pairs of normal numbers."""
    for kind in range(2):
        series = [*samples[0][kind], samples[1][kind][0]]
        pairs = [(x, y) for k, x in enumerate(series) for y in series[k + 1 :]]
        pairs += [(x[:-lag], x[lag:]) for x in series for lag in (1, 2, 32, 1024)]
        pairs += [(x**2, y**2) for x, y in pairs[:10]]
        for x, y in pairs:
            assert abs(np.corrcoef(x, y)[0, 1]) < 5 * len(x) ** -0.5
