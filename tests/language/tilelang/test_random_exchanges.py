"""Random programs whose roles hand each other numbers within a turn, to and fro: the oracle, machine code and Python's integers
agree. Who hands on to whom, how often, how far ahead, in branches, and in which order the program writes the roles vary."""

import random

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

WIDTH = 8


class Exchange:
    """What a seed stands for: letters that roles send each other in each turn, in an order that all keep to."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.roles, self.steps, self.known = rng.randint(2, 3), rng.choice([1, 2, 3, 6]), rng.random() < 0.5
        self.letters = []  # (from, to, under which condition, number of slots)
        for _ in range(rng.randint(2, 6)):
            sender, receiver = rng.sample(range(self.roles), 2)
            self.letters.append((sender, receiver, rng.choice(["always", "always", "not last", "even"]), rng.randint(1, 2)))
        self.order = rng.sample(range(self.roles), self.roles)

    def right(self, x):
        """[role][step][element] of what each role has at the end of a turn."""
        own = [[value + role for value in x] for role in range(self.roles)]
        rows = [[] for _ in range(self.roles)]
        for k in range(self.steps):
            for number, (sender, receiver, when, _) in enumerate(self.letters):
                if when == "always" or (when == "even" and k % 2 == 0) or (when == "not last" and k < self.steps - 1):
                    letter = [3 * value + number for value in own[sender]]
                    own[sender] = [value + k for value in own[sender]]
                    own[receiver] = [(2 * value + other) % 1009 for value, other in zip(own[receiver], letter, strict=True)]
            for role in range(self.roles):
                rows[role].append(list(own[role]))
        return rows

    def program(self):
        steps, roles, order, letters, known = self.steps, self.roles, tuple(self.order), tuple(self.letters), self.known

        @T.macro
        def write(number, sender, receiver, slots, turn, k, role, own, mail, sent, read):
            place, phase = 2 * number + turn % slots, (turn // slots) & 1
            if role == sender:
                T.barrier_wait(read[place], phase ^ 1)
                for i in T.Parallel(WIDTH):
                    mail[place, i] = 3 * own[i] + number
                T.barrier_arrive(sent[place])
                for i in T.Parallel(WIDTH):
                    own[i] = own[i] + k
            if role == receiver:
                T.barrier_wait(sent[place], phase)
                for i in T.Parallel(WIDTH):
                    own[i] = (2 * own[i] + mail[place, i]) % 1009
                T.barrier_arrive(read[place])

        @T.macro
        def work(role, k, end, own, mail, sent, read, result):
            for number, (sender, receiver, when, slots) in enumerate(letters):
                if role in (sender, receiver):
                    if when == "always":
                        write(number, sender, receiver, slots, k, k, role, own, mail, sent, read)
                    elif when == "even":
                        if k % 2 == 0:
                            write(number, sender, receiver, slots, k // 2, k, role, own, mail, sent, read)
                    else:
                        if k < end - 1:
                            write(number, sender, receiver, slots, k, k, role, own, mail, sent, read)
            T.copy(own, result[role, k, 0:WIDTH])

        @T.prim_func
        def main(
            x: T.Tensor((WIDTH,), "int32"), count: T.Tensor((1,), "int32"), result: T.Tensor((roles, steps, WIDTH), "int32")
        ):
            with T.Kernel(1, threads=128 * roles):
                mail = T.alloc_shared((2 * len(letters), WIDTH), "int32")
                sent = T.alloc_barrier([128] * (2 * len(letters)))
                read = T.alloc_barrier([128] * (2 * len(letters)))
                end = steps if known else count[0]
                for role in order:
                    with T.ws(role):
                        own = T.alloc_fragment((WIDTH,), "int32")
                        for i in T.Parallel(WIDTH):
                            own[i] = x[i] + role
                        for k in T.serial(end):
                            work(role, k, end, own, mail, sent, read, result)

        return main


def check(seed):
    exchange = Exchange(seed)
    x, result = torch.arange(WIDTH, dtype=torch.int32), torch.zeros(exchange.roles, exchange.steps, WIDTH, dtype=torch.int32)
    count = torch.tensor([exchange.steps], dtype=torch.int32)
    tilelang.compile(exchange.program())(x, count, result)
    assert result.tolist() == exchange.right(list(range(WIDTH))), f"seed {seed}"


@pytest.mark.parametrize("seed", range(16))
def test_exchanges(seed, engine):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_many_exchanges(seed, engine):
    check(seed)
