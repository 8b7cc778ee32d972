"""Arrays of single threads that loops walk: the ranges of inner loops and the places are made of outer loops' numbers."""

import importlib.util
import random

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("device")

HEAD = """
from tilery import tilelang
from tilery.tilelang import language as T

@tilelang.jit
def walk(X, threads, n):
    X: T.Tensor((threads, n), "int32")
    Y = T.empty((threads, n), "int32")
    with T.Kernel(1, threads=threads):
        t = T.get_thread_binding(0)
        L = T.alloc_local((n,), "int32")
        M = T.alloc_local((n,), "int32")
        for i in T.serial(n):
            L[i] = X[t, i]
            M[i] = i
"""
TAIL = """
        for i in T.serial(n):
            Y[t, i] = L[i] * 5 + M[i]
    return Y
"""


def written(seed, n):
    """Statements in loops, as text with `serial` for its ranges."""
    rng = random.Random(seed)

    def place(names):
        chosen = [f"{name} * {rng.randint(1, 3)}" for name in names if rng.random() < 0.8]
        return f"({' + '.join([*chosen, str(rng.randrange(n))])}) % {n}"

    def statement(names):
        array, other = rng.choice(["L", "M"]), rng.choice(["L", "M"])
        number = rng.choice([*names, "t", "7"])
        return f"{array}[{place(names)}] = {other}[{place(names)}] * {rng.randint(1, 4)} + {array}[{place(names)}] - {number}"

    def block(names, depth):
        lines = [statement(names)]
        for _ in range(rng.randint(1, 2)):
            if depth and rng.random() < 0.9:
                name = "ijk"[len(names)]
                most = rng.choice([str(rng.randint(0, 4)), *(f"{outer} + {rng.randint(0, 2)}" for outer in names)])
                if names and rng.random() < 0.3:
                    most = f"{n} // (2 << {names[-1]})"
                lines.append(f"for {name} in serial({most}):")
                lines += ["    " + line for line in block([*names, name], depth - 1)]
            elif names and rng.random() < 0.3:
                lines.append(f"if {names[-1]} < 2:")
                lines.append("    " + statement(names))
            else:
                lines.append(statement(names))
        return lines

    return block([], 3)


def expected(lines, X, n):
    result = torch.empty_like(X)
    code = compile("\n".join(lines), "walk", "exec")
    for t in range(X.shape[0]):
        scope = {"L": X[t].tolist(), "M": list(range(n)), "t": t, "serial": range}
        exec(code, scope)
        wrapped = [(5 * x + m + 2**31) % 2**32 - 2**31 for x, m in zip(scope["L"], scope["M"])]
        result[t] = torch.tensor(wrapped, dtype=torch.int32)
    return result


@pytest.mark.parametrize("seed", range(24))
def test_random_walks(seed, tmp_path):
    n = [4, 7, 16, 33][seed % 4]
    lines = written(seed, n)
    path = tmp_path / f"walk_{seed}.py"
    path.write_text(HEAD + "".join(f"        {line}\n" for line in lines).replace("serial(", "T.serial(") + TAIL)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    X = torch.randint(-100, 100, (32, n), dtype=torch.int32, generator=torch.Generator().manual_seed(seed), device="cpu")
    got = module.walk(X.to(torch.empty(0).device), 32, n)
    assert (got.cpu() == expected(lines, X, n)).all()


@tilelang.jit
def hadamard(X, n, threads, dtype):
    b = T.const("b")
    X: T.Tensor((b, n), dtype)
    Y = T.empty((b, n), dtype)
    own = n // threads
    with T.Kernel(b, threads=threads) as row:
        t = T.get_thread_binding(0)
        L = T.alloc_local((own,), dtype)
        for i in T.vectorized(own):
            L[i] = X[row, t * own + i]
        for r in T.serial(own.bit_length() - 1):
            for j in T.serial(own // (2 << r)):
                for k in T.serial(1 << r):
                    at = j * (2 << r) + k
                    L[at] = L[at] + L[at + (1 << r)]
                    L[at + (1 << r)] = L[at] - 2 * L[at + (1 << r)]
        for r in T.serial(threads.bit_length() - 1):
            for j in T.serial(own):
                other = T.tvm_warp_shuffle(0xFFFFFFFF, L[j], t ^ (1 << r), 32, 32)
                L[j] = T.if_then_else((t >> r) & 1 == 0, L[j] + other, other - L[j])
        for i in T.vectorized(own):
            Y[row, t * own + i] = L[i]
    return Y


@pytest.mark.parametrize(("n", "dtype"), [(32, "float32"), (512, "float32"), (2048, "float32"), (512, "float16")])
def test_hadamard(n, dtype):
    """Integers of up to 2^11 (f32: 2^20) that every step holds exactly."""
    X = torch.randint(-2, 3, (3, n), generator=torch.Generator().manual_seed(n), device="cpu")
    wanted, h = X.clone(), 1
    while h < n:
        pairs = wanted.view(3, -1, 2, h)
        wanted = torch.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], 2).reshape(3, n)
        h *= 2
    got = hadamard(X.to(getattr(torch, dtype)).to(torch.empty(0).device), n, 32, dtype)
    assert (got.cpu().double() == wanted.double()).all()
