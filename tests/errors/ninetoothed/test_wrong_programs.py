"""Each wrong application gives exactly its message."""

import numpy as np
import pytest
from errors import messages
from errors.ninetoothed import wrong_programs

MESSAGES = messages.expected(__file__)


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    kernel = wrong_programs.KERNELS[name]
    arguments = np.ones((2, 8), np.float32), np.ones((2, 8), np.float32)
    assert messages.raised(lambda: kernel(*arguments), kernel.application) == MESSAGES[name]


def test_every_program_has_a_message():
    assert set(wrong_programs.KERNELS) == set(MESSAGES)
