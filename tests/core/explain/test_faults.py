"""Kernels with one known fault each, and without: what holds them back is named at its line, and nothing else."""

import linecache

import core.explain.small_kernels  # noqa: F401  # more rows
import pytest
from core.explain.faulty_kernels import ROWS


@pytest.mark.parametrize("name", ROWS)
def test_the_fault_is_named_at_its_line(name):
    fault, explain = ROWS[name]
    (entry,) = explain().launches
    findings = [each for each in entry.findings if each.fault != "grid"]  # which hangs on how many processors there are
    found = [(each.fault, linecache.getline(each.chain[0].file, each.chain[0].line).rstrip()[-7:]) for each in findings]
    assert found == ([] if fault is None else [(fault, "# fault")])
    assert all(each.message and each.hint for each in entry.findings)


def test_there_are_twenty():
    assert sum(fault is not None for fault, _ in ROWS.values()) >= 20
    assert {fault for fault, _ in ROWS.values()} >= {
        "gather", "scatter", "division", "conversion", "atomics", "transpose", "ragged", "scalar", "spill", "sum", "small",
    }  # fmt: skip
