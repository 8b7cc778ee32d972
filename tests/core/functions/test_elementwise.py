"""Every elementwise row on every type it takes, by the oracle and by machine code, against a second reference."""

import functools

import numpy as np
import pytest
import torch
from core.functions import kernels, references

from tilery.core.functions.row import BOOL

CASES = kernels.cases()
# Rows found wrong: (row, type) and the defect.
DEFECTS = {}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """results(language, row, place, seed): what the programs of a row gave, run once."""

    @functools.lru_cache(maxsize=None)
    def get(language, row, place, seed=0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TILERY_ORACLE", "1" if place == "oracle" else "0")
            folder = tmp_path_factory.mktemp("kernels")
            return kernels.run(language, row, folder, "cuda" if place == "cuda" else "cpu", seed)

    return get


def bound(row, result):
    """Units in the last place. Narrow floats are computed in float32 and rounded once more; compositions round each step."""
    if result in ("float32", "float64"):
        return row.ulps
    if not isinstance(row.operation, str) or row.operation.startswith("function "):
        return row.ulps + 0.5
    digits = int(references.ml_dtypes.finfo(references.numpy_type(result)).nmant) + 1
    return 0.5 + row.ulps * 2.0 ** (digits - 24)


@functools.lru_cache(maxsize=None)
def wanted(row, dtype, seed):
    """The value of each lane."""
    inputs, reference = kernels.operands(row, dtype, seed), references.Reference(row)
    result, floats = row.result.of(dtype), references.is_float(dtype) or references.is_float(row.result.of(dtype))
    values = []
    for lanes in zip(*inputs):
        if floats:
            values.append(reference.on_floats(*(x if references.is_float(dtype) else np.float32(int(x)) for x in lanes)))
        elif row.result is BOOL:
            values.append(bool(reference.wide(*map(float, lanes))))
        else:
            values.append(reference.on_integers(result, *lanes, of=dtype))
    return values


def mistakes(row, dtype, inputs, got, seed):
    """Lanes that are wrong, with the reason."""
    result = row.result.of(dtype)
    for lanes, value, want in zip(zip(*inputs), got, wanted(row, dtype, seed)):
        if references.is_float(result):
            reason = references.wrong(result, value, want, bound(row, result))
            if len(lanes) > 1 and float(value) == 0 == want:
                reason = None  # which zero it is depends on the order of operands that are equal
        else:
            reason = None if int(value) == int(want) else f"{value} for {want}"
        if reason:
            yield f"{row.name}({', '.join(map(str, lanes))}) = {reason}"


def check(row, dtype, results, seed=0):
    wrong = list(mistakes(row, dtype, *results[dtype], seed))
    assert not wrong, f"{len(wrong)} of {kernels.N}: " + "; ".join(wrong[:4])


def parameters():
    for language, row in CASES:
        for dtype in kernels.types_of(language, row):
            defect = DEFECTS.get((row.name, dtype))
            marks = [pytest.mark.xfail(strict=True, reason=defect)] if defect else []
            yield pytest.param(language, row, dtype, id=f"{language}-{row.name}-{dtype}", marks=marks)


@pytest.mark.parametrize("place", ["oracle", "machine"])
@pytest.mark.parametrize("language, row, dtype", list(parameters()))
def test_row(results, language, row, dtype, place):
    check(row, dtype, results(language, row, place))


ROWS = pytest.mark.parametrize("language, row", [pytest.param(*case, id=f"{case[0]}-{case[1].name}") for case in CASES])


def check_all(language, row, results, seed):
    for dtype in kernels.types_of(language, row):
        if (row.name, dtype) not in DEFECTS:
            check(row, dtype, results, seed)


@pytest.mark.gpu
@ROWS
def test_row_on_a_gpu(results, language, row):
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU and a torch that sees it")
    check_all(language, row, results(language, row, "cuda"), 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 9))
@ROWS
def test_row_on_other_numbers(results, language, row, seed):
    check_all(language, row, results(language, row, "machine", seed), seed)
