"""Random programs with roles and barriers: the oracle, machine code and Python's integers agree. A chain of roles hands numbers
on through rings of buffers; how far one may run ahead, how often they meet, branches, who is written first and whose code is of
single threads vary."""

import random

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


class Chain:
    """What a seed stands for: a source, roles that pass tiles on, and what each does to them."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.roles = rng.randint(2, 4)
        self.steps = rng.choice([1, 2, 3, 5, 8])
        self.known = rng.random() < 0.5  # are the steps known at compile time?
        self.stages = [rng.randint(1, 3) for _ in range(self.roles - 1)]
        self.factors = [rng.randint(1, 3) for _ in range(self.roles)]
        self.skips = [rng.random() < 0.3 for _ in range(self.roles)]  # works in every other turn only
        self.order = rng.sample(range(self.roles), self.roles)  # in which order the program writes the roles
        self.in_loop = rng.random() < 0.3  # one loop around all roles, if their order allows it
        if self.in_loop:
            self.order.sort()
        self.single = [rng.random() < 0.4 for _ in range(self.roles)]  # by code of single threads

    def right(self, x):
        """[step][element] of the result, in Python's integers."""
        rows = []
        for step in range(self.steps):
            row = [value + step for value in x]
            for role in range(self.roles):
                if not self.skips[role] or step % 2 == 0:
                    row = [self.factors[role] * value + role for value in row]
            rows.append(row)
        return rows

    def program(self):
        steps, roles, order, width = self.steps, self.roles, tuple(self.order), 8
        stages, factors, skips = tuple(self.stages), tuple(self.factors), tuple(self.skips)
        most, single = max(stages), tuple(self.single)

        @T.macro
        def work_of_threads(role, k, t, mine, x, tiles, full, empty, result):
            if role == 0:
                mine[0] = x[t % width] + k
            else:
                place = k % stages[role - 1]
                T.mbarrier_wait_parity(full[(role - 1) * most + place], (k // stages[role - 1]) & 1)
                mine[0] = tiles[role - 1, place, t % width]
                T.mbarrier_arrive(empty[(role - 1) * most + place])
            if skips[role]:
                if k % 2 == 0:
                    mine[0] = mine[0] * factors[role] + role
            else:
                mine[0] = mine[0] * factors[role] + role
            if role == roles - 1:
                if t < width:
                    result[k, t] = mine[0]
            else:
                place = k % stages[role]
                T.mbarrier_wait_parity(empty[role * most + place], ((k // stages[role]) & 1) ^ 1)
                if t < width:
                    tiles[role, place, t] = mine[0]
                T.mbarrier_arrive(full[role * most + place])

        @T.macro
        def work(role, k, x, tiles, full, empty, result):
            tile = T.alloc_fragment((width,), "int32")
            if role == 0:
                for i in T.Parallel(width):
                    tile[i] = x[i] + k
            else:
                place = k % stages[role - 1]
                T.mbarrier_wait_parity(full[(role - 1) * most + place], (k // stages[role - 1]) & 1)
                T.copy(tiles[role - 1, place, :], tile)
                T.mbarrier_arrive(empty[(role - 1) * most + place])
            if skips[role]:
                if k % 2 == 0:
                    for i in T.Parallel(width):
                        tile[i] = tile[i] * factors[role] + role
            else:
                for i in T.Parallel(width):
                    tile[i] = tile[i] * factors[role] + role
            if role == roles - 1:
                T.copy(tile, result[k, 0:width])
            else:
                place = k % stages[role]
                T.mbarrier_wait_parity(empty[role * most + place], ((k // stages[role]) & 1) ^ 1)
                T.copy(tile, tiles[role, place, :])
                T.mbarrier_arrive(full[role * most + place])

        in_loop, known = self.in_loop, self.known

        @T.prim_func
        def main(x: T.Tensor((width,), "int32"), count: T.Tensor((1,), "int32"), result: T.Tensor((steps, width), "int32")):
            with T.Kernel(1, threads=128 * roles):
                tiles = T.alloc_shared((roles - 1, most, width), "int32")
                full, empty = T.alloc_barrier([128] * ((roles - 1) * most)), T.alloc_barrier([128] * ((roles - 1) * most))
                mine, tx = T.alloc_local([1], "int32"), T.get_thread_binding()
                if in_loop:
                    for k in T.serial(steps if known else count[0]):
                        for role in order:
                            with T.ws(role):
                                if single[role]:
                                    work_of_threads(role, k, tx - 128 * role, mine, x, tiles, full, empty, result)
                                else:
                                    work(role, k, x, tiles, full, empty, result)
                else:
                    for role in order:
                        with T.ws(role):
                            for k in T.serial(steps if known else count[0]):
                                if single[role]:
                                    work_of_threads(role, k, tx - 128 * role, mine, x, tiles, full, empty, result)
                                else:
                                    work(role, k, x, tiles, full, empty, result)

        return main


def check(seed):
    chain = Chain(seed)
    x, result = torch.arange(8, dtype=torch.int32), torch.zeros(chain.steps, 8, dtype=torch.int32)
    count = torch.tensor([chain.steps], dtype=torch.int32)
    tilelang.compile(chain.program())(x, count, result)
    assert result.tolist() == chain.right(list(range(8))), f"seed {seed}"


@pytest.mark.parametrize("seed", range(24))
def test_chains(seed, engine):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_many_chains(seed, engine):
    check(seed)
