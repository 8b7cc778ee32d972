"""Contests without a GPU: who is compiled by whom, and what becomes of the times."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def rounds(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.syspath_prepend(BENCHMARKS / "peers")
    import gpu_rounds

    monkeypatch.setattr(gpu_rounds.torch.cuda, "synchronize", lambda: None)
    yield gpu_rounds
    for name in ("gpu_rounds", "harness"):
        del sys.modules[name]


def test_shares_compile_each_contestant_once(rounds):
    called = []
    for share in range(3):
        rounds.settings.share = share, 3
        contest = rounds.Contest()
        for name in "abcdefg":
            contest.enter(name, lambda name=name: lambda: called.append(name), pytest.fail)
        assert contest.run().result("work", "a", "b", 1.0, "us", 1.0) == []
    assert sorted(called) == list("abcdefg")


def test_the_best_of_each_side_is_compared(rounds):
    contest = rounds.Contest()
    contest.times = {"ours, 3": [2.0, 2.0, 4.0], "ours, 4": [1.0, 1.0, 2.0], "Triton, 3": [1.5] * 3, "copy": [1.0] * 3}
    (row,) = contest.result("work", "ours", "Triton", 3.0, "GB/s", 1.0)
    assert (row.ours, row.rival, row.theirs) == (3000.0, "Triton, 3", 2000.0)
    assert (row.ratio, row.low, row.high) == (1.5, 0.75, 1.5)
    contest.scale("copy", 0.5)
    contest.scale("nobody", 0.5)
    assert contest.times["copy"] == [0.5, 0.5, 0.5]


def test_a_rival_that_is_missing_leaves_our_figure(rounds):
    contest = rounds.Contest()
    contest.times = {"ours": [2.0, 2.0]}
    (row,) = contest.result("work", "ours", "TileLang, ", 2.0, "GB/s", 1.0)
    assert (row.ours, row.rival, row.ratio) == (1000.0, "TileLang", None)
    assert contest.result("work", "nobody", "ours", 2.0, "GB/s", 1.0) == []


def test_a_wrong_result_takes_no_part(rounds, capsys):
    contest = rounds.Contest()

    def wrong():
        raise ValueError("off by one")

    contest.enter("ours", lambda: lambda: None, wrong)
    assert contest.calls == {} and "ours does not take part: ValueError: off by one" in capsys.readouterr().err
