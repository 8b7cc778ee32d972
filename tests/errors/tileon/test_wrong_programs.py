"""Each wrong kernel gives exactly its message."""

import numpy as np
import pytest
from errors import messages
from errors.tileon import wrong_functions, wrong_programs

MESSAGES = messages.expected(__file__)
KERNELS = {n: k for m in (wrong_programs, wrong_functions) for n, k in vars(m).items() if hasattr(k, "arg_names")}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    kernel = KERNELS[name]
    arguments = [np.zeros(64, np.float32)] + [7] * ("n" in kernel.arg_names)
    assert messages.raised(lambda: kernel[(1,)](*arguments, BLOCK=16), kernel.fn) == MESSAGES[name]


def test_every_program_has_a_message():
    assert KERNELS.keys() - {"helper", "pair", "either"} == set(MESSAGES)
