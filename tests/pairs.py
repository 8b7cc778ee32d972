"""`@pytest.mark.pairs` on a test with several parameters: of all combinations of their values the usual run has so many that each
two values of two parameters stand in one of them; the others are `long`."""

import itertools

import pytest


def chosen(cases):
    """The numbers of such cases, of which each is {parameter: value}; the one that shows most that is new comes first."""
    shown = [set(itertools.combinations(sorted((name, repr(value)) for name, value in case.items()), 2)) for case in cases]
    left, numbers = set().union(*shown), []
    while left:
        number = max(range(len(cases)), key=lambda number: len(shown[number] & left))
        left -= shown[number]
        numbers.append(number)
    return numbers


def mark_others(items):
    """Marks `long` what is no such case. Those that need a GPU stay."""
    tests = {}
    for item in items:
        if item.get_closest_marker("pairs") and not item.get_closest_marker("gpu"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        usual = set(chosen([case.callspec.params for case in cases]))
        for number, case in enumerate(cases):
            if number not in usual:
                case.add_marker(pytest.mark.long)
