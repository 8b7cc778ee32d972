"""Which combinations of parameters the usual run has, of tests that are marked `pairs`."""

import itertools
from types import SimpleNamespace

import pairs
import pytest


def combinations(**values):
    return [dict(zip(values, case)) for case in itertools.product(*values.values())]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (5, 4, 3, 2), (7, 6, 1, 1), (1, 1), (4,)])
def test_each_pair_of_values_stands_in_a_case(sizes):
    cases = combinations(**{f"p{number}": range(size) for number, size in enumerate(sizes)})
    chosen = [cases[number] for number in pairs.chosen(cases)]
    for (a, b), (x, y) in zip(itertools.combinations(range(len(sizes)), 2), itertools.combinations(sizes, 2)):
        assert {(case[f"p{a}"], case[f"p{b}"]) for case in chosen} == set(itertools.product(range(x), range(y)))
    assert len(chosen) <= 1.5 * max(x * y for x, y in itertools.combinations([*sizes, 1], 2))


class Item:
    def __init__(self, test, params, *marks):
        self.nodeid, self.callspec, self.marks = f"{test}[{params}]", SimpleNamespace(params=params), [*marks]

    def get_closest_marker(self, name):
        return name if name in self.marks else None

    def add_marker(self, mark):
        self.marks.append(mark.name)


def test_the_others_are_long():
    """Of each test by itself; what runs on a GPU, and tests without the mark, are as they were."""
    cases = combinations(a=range(3), b=range(3), c=range(3))
    first, second = ([Item(test, case, "pairs") for case in cases] for test in ("first", "second"))
    gpu, plain = [Item("first", case, "pairs", "gpu") for case in cases], [Item("plain", case) for case in cases]
    pairs.mark_others([*first, *gpu, *plain, *second])
    for items in (first, second):
        assert sum("long" not in item.marks for item in items) in range(9, 14)
    assert not any("long" in item.marks for item in [*gpu, *plain])
    alone = Item("first", cases[-1], "pairs")
    pairs.mark_others([alone])
    assert alone.marks == ["pairs"]
