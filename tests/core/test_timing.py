"""What do_bench of the languages is made of."""

import time

import pytest

from tilery.core import timing
from tilery.errors import Error


def test_quantiles_lie_between_the_nearest_times():
    assert [timing.quantile([4.0, 1.0, 3.0, 2.0], q) for q in (0, 0.5, 0.9, 1)] == pytest.approx([1, 2.5, 3.7, 4])
    assert timing.quantile([7.0], 0.3) == 7


def test_milliseconds_of_a_call():
    assert 2 <= timing.measure(lambda: time.sleep(0.002), 1, 10, mode="min") < 200


def test_numbers_of_calls():
    calls, prepared = [], []
    times = timing.measure(lambda: calls.append(1), 1, 1, mode="all", calls=(3, 5), before=lambda: prepared.append(1))
    assert len(times) == len(prepared) == 5 and len(calls) == 2 + 3 + 5
    low, high = timing.measure(lambda: None, 1, 1, quantiles=(0.1, 0.9), calls=(1, 20))
    assert 0 <= low <= high


def test_unknown_summary():
    with pytest.raises(Error, match="unknown return_mode 'best'\n  hint: known: mean, median, min, max, all"):
        timing.measure(lambda: None, 1, 1, mode="best")
