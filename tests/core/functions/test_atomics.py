"""Atomic functions on every type, under contention: the values before, which each update returns, must be those of some order.

An update is an edge from the value before to the value it leaves, worked out by NumPy. The updates of a cell took place one after
the other exactly if these edges are a trail from what the cell held at first to what it holds at last: one that takes each edge
once."""

from collections import Counter

import numpy as np
import pytest
from core.functions import kernels, references

from tilery import tilelang
from tilery.core.functions.row import ALL

PROGRAMS, LANES, CELLS = 96, 32, 5
ROUNDS = 3  # launches one after the other: threads that sleep at the first one take part in the others
INTEGERS = ("int32", "int64", "uint32", "uint64")
WIDE = (*INTEGERS, "float32", "float64")
OPERATIONS = {
    "add": ((*WIDE, "float16", "bfloat16"), lambda old, x: old + x),
    "max": (WIDE, max),
    "min": (WIDE, min),
    "and": (INTEGERS, lambda old, x: old & x),
    "or": (INTEGERS, lambda old, x: old | x),
    "xor": (INTEGERS, lambda old, x: old ^ x),
    "xchg": (WIDE, lambda old, x: x),
}
TYPES = OPERATIONS["add"][0]
NUMBERS = tuple(dtype for dtype in ALL if dtype != "bool")
IN_T = ("add", "max", "min", "or")


def numbers(dtype, seed, count=PROGRAMS * LANES):
    """Of any size; no NaN and no zeros, whose order among each other is not defined."""
    random, kind = np.random.default_rng(seed), references.numpy_type(dtype)
    if references.is_float(dtype):
        return (random.choice([-1, 1], count) * np.exp(random.uniform(-3, 3, count))).astype(kind)
    return random.integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind)


def places():
    """The cell of each update: all programs meet in all of them, and so do the lanes of one."""
    return np.random.default_rng(8).integers(0, CELLS, PROGRAMS * LANES, dtype=np.int32)


def is_trail(first, last, edges):
    """Is there a way from one value to the other that takes each edge once?"""
    balanced = Counter(old for old, _ in edges) + Counter([last]) == Counter(new for _, new in edges) + Counter([first])
    beside, reached, ahead = {}, {first}, [first]
    for old, new in edges:
        beside.setdefault(old, []).append(new)
    while ahead:
        for value in beside.get(ahead.pop(), ()):
            if value not in reached:
                reached.add(value)
                ahead.append(value)
    return balanced and all(old in reached for old, _ in edges)


def check(what, update, first, last, olds, takes_part=True):
    """olds: what each update returned, in each round; takes_part: of which lanes the mask is on."""
    with np.errstate(all="ignore"):
        news = [[update(old, lane) for lane, old in enumerate(round)] for round in olds]
    for cell in range(CELLS):
        lanes = np.flatnonzero((places() == cell) & takes_part)
        edges = [(old[k].item(), new[k].item()) for old, new in zip(olds, news) for k in lanes]
        assert len(edges) > 100 and is_trail(first[cell].item(), last[cell].item(), edges), f"{what}, cell {cell}"


def folded(update, first):
    """The cells after all updates, in any order."""
    cells = first.copy()
    with np.errstate(all="ignore"):
        for lane, cell in [*enumerate(places())] * ROUNDS:
            cells[cell] = update(cells[cell], lane)
    return cells


@pytest.mark.parametrize("wrong", ["lost", "twice", "torn"])
def test_trails(wrong):
    right = [(0, 3), (3, 3), (3, 5), (5, 9)]
    assert is_trail(0, 9, right) and is_trail(4, 4, []) and not is_trail(4, 5, [])
    assert not is_trail(0, 9, {"lost": right[:-1], "twice": [*right, (3, 5)], "torn": [*right, (7, 8), (8, 7)]}[wrong])


TL = """@tileon.jit
def kernel(x_ptr, y_ptr, at_ptr, {parameters}):
    lanes = tl.program_id(0) * {LANES} + tl.arange(0, {LANES})
    x, y, at, mask = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes), tl.load(at_ptr + lanes), lanes % 3 != 1
"""


def launch(kernel, inputs, made, olds):
    """Some rounds; what `olds` held after each of them."""
    found = []
    for _ in range(ROUNDS):
        kernel(*inputs, *made)
        found.append([tensor.cpu().clone() for tensor in olds])
    return zip(*found)


def tensors(device, *arrays):
    return [kernels.to_torch(a, device) for a in arrays]


@pytest.mark.parametrize("dtype", TYPES)
def test_updates_by_tiles(device, dtype, tmp_path):
    """With a mask and the old values; with neither."""
    names = [name for name, (types, _) in OPERATIONS.items() if dtype in types]
    text = TL.format(parameters=", ".join(f"{n}_cells, {n}_olds, {n}_bare" for n in names), LANES=LANES)
    for n in names:
        text += f"    tl.store({n}_olds + lanes, tl.atomic_{n}({n}_cells + at, x, mask))\n    tl.atomic_{n}({n}_bare + at, x)\n"
    x, first = numbers(dtype, 1), numbers(dtype, 2, CELLS)
    made = [tensors(device, first, np.zeros_like(x), first) for _ in names]
    kernel, inputs = kernels.load(tmp_path, text)[(PROGRAMS,)], tensors(device, x, x, places())
    rounds = launch(kernel, inputs, [tensor for three in made for tensor in three], [olds for _, olds, _ in made])
    for name, three, olds in zip(names, made, rounds):
        last, _, bare = (kernels.to_numpy(tensor, dtype) for tensor in three)
        olds = [kernels.to_numpy(tensor, dtype) for tensor in olds]
        update = lambda old, lane, function=OPERATIONS[name][1]: function(old, x[lane])
        check(name, update, first, last, olds, np.arange(len(x)) % 3 != 1)
        if name != "xchg" and not (name == "add" and references.is_float(dtype)):  # order decides
            assert bare.tolist() == folded(update, first).tolist(), name


@pytest.mark.parametrize("dtype", NUMBERS)
def test_exchanges_where_equal(device, dtype, tmp_path):
    text = TL.format(parameters="cells, olds", LANES=LANES) + "    tl.store(olds + lanes, tl.atomic_cas(cells + at, x, y))\n"
    few, random = numbers(dtype, 3, 4), np.random.default_rng(4)
    x, y = few[random.integers(0, 4, PROGRAMS * LANES)], few[random.integers(0, 4, PROGRAMS * LANES)]
    first = few[np.arange(CELLS) % 4]
    cells, olds = tensors(device, first, np.zeros_like(x))
    kernel, inputs = kernels.load(tmp_path, text)[(PROGRAMS,)], tensors(device, x, y, places())
    olds = [kernels.to_numpy(tensor, dtype) for (tensor,) in zip(*launch(kernel, inputs, [cells, olds], [olds]))]
    assert np.count_nonzero(np.stack(olds) == x) > 100
    check("cas", lambda old, lane: y[lane] if old == x[lane] else old, first, kernels.to_numpy(cells, dtype), olds)


def test_orders_and_scopes(device, tmp_path):
    orders, scopes = [None, "acquire", "release", "acq_rel", "relaxed"], [None, "cta", "gpu", "sys"]
    text = TL.format(parameters="cells", LANES=LANES)
    for order in orders:
        for scope in scopes:
            text += f"    tl.atomic_add(cells + at, 1, sem={order!r}, scope={scope!r})\n"
    x, cells = tensors(device, numbers("int32", 1), np.zeros(CELLS, np.int32))
    kernels.load(tmp_path, text)[(PROGRAMS,)](x, x, *tensors(device, places()), cells)
    assert cells.tolist() == (np.bincount(places()) * len(orders) * len(scopes)).tolist()


@pytest.mark.parametrize("name", [*OPERATIONS, "cas"])
def test_other_types_are_refused(name, tmp_path):
    takes = NUMBERS if name == "cas" else OPERATIONS[name][0]
    arguments = "x, y" if name == "cas" else "x"
    for dtype in ALL:
        if dtype in takes:
            continue
        kernel = kernels.load(tmp_path, TL.format(parameters="c", LANES=LANES) + f"    tl.atomic_{name}(c + at, {arguments})\n")
        x = kernels.to_torch(np.zeros(LANES, references.numpy_type(dtype)))
        with pytest.raises(ValueError, match="does not take"):
            kernel[(1,)](x, x, *tensors("cpu", np.zeros(LANES, np.int32)), x)


@pytest.mark.parametrize("name", ["add"])  # the others take narrow types, too
def test_other_types_are_refused_in_tilelang(name, tmp_path):
    for dtype in ALL:
        if dtype in OPERATIONS[name][0]:
            continue
        text = f"""@T.prim_func
def kernel(c: T.Tensor((1,), "{dtype}")):
    with T.Kernel(1):
        T.atomic_{name}(c[0], 1)
"""
        with pytest.raises(ValueError, match="this atomic does not take"):
            kernels.load(tmp_path, text)


@pytest.mark.parametrize("dtype", TYPES)
def test_updates_in_tilelang(device, dtype, tmp_path):
    """Of elements with the old values and without, and of a region."""
    names = [name for name in IN_T if dtype in OPERATIONS[name][0]]
    regions = [name for name in names if name != "or"]
    parameters, updates, whole = "", "", ""
    for n in names:
        parameters += f', {n}_cells: T.Tensor(({CELLS},), "{dtype}"), {n}_olds: T.Tensor(({PROGRAMS * LANES},), "{dtype}")'
        parameters += f', {n}_bare: T.Tensor(({CELLS},), "{dtype}"), {n}_box: T.Tensor(({LANES},), "{dtype}")'
        updates += f"            {n}_olds[p * {LANES} + i] = T.atomic_{n}({n}_cells[at[p * {LANES} + i]], x[p * {LANES} + i], "
        updates += f"return_prev=True)\n            T.atomic_{n}({n}_bare[at[p * {LANES} + i]], x[p * {LANES} + i])\n"
    for n in regions:
        whole += f"        T.atomic_{n}({n}_box, s)\n"
    text = f"""@T.prim_func
def kernel(x: T.Tensor(({PROGRAMS * LANES},), "{dtype}"), at: T.Tensor(({PROGRAMS * LANES},), "int32"){parameters}):
    with T.Kernel({PROGRAMS}) as p:
        s = T.alloc_shared(({LANES},), "{dtype}")
        T.copy(x[p * {LANES}], s)
        for i in T.Parallel({LANES}):
{updates}{whole}"""
    x, first, box = numbers(dtype, 5), numbers(dtype, 6, CELLS), numbers(dtype, 7, LANES)
    made = [tensors(device, first, np.zeros_like(x), first, box) for _ in names]
    kernel, inputs = tilelang.compile(kernels.load(tmp_path, text)), tensors(device, x, places())
    rounds = launch(kernel, inputs, [tensor for four in made for tensor in four], [olds for _, olds, *_ in made])
    for name, four, olds in zip(names, made, rounds):
        last, _, bare, after = (kernels.to_numpy(tensor, dtype) for tensor in four)
        olds = [kernels.to_numpy(tensor, dtype) for tensor in olds]
        update = lambda old, lane, function=OPERATIONS[name][1]: function(old, x[lane])
        check(name, update, first, last, olds)
        if name == "add" and references.is_float(dtype):
            continue  # order decides
        assert bare.tolist() == folded(update, first).tolist(), name
        if name in regions:
            rows = [box, *[*x.reshape(PROGRAMS, LANES)] * ROUNDS]
            whole = {"add": np.add, "max": np.maximum, "min": np.minimum}[name].reduce(rows, dtype=box.dtype)
            assert after.tolist() == whole.tolist(), name
