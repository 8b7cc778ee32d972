"""Each wrong application gives exactly its message. Lines are relative to the application's decorator; the file is left out."""

import re
from pathlib import Path

import numpy as np
import pytest
from errors.ninetoothed import wrong_programs

from tilery.errors import Error

TEXT = Path(__file__).with_name("messages.txt").read_text()
MESSAGES = dict(re.findall(r"^=== (\w+) (.*?)(?=^===|\Z)", TEXT, re.M | re.S))


def message(name):
    """'BuiltinError\\n...' as launching the kernel raises it."""
    kernel = wrong_programs.KERNELS[name]
    first = kernel.application.__code__.co_firstlineno
    with pytest.raises(Error) as caught:
        kernel(np.ones((2, 8), np.float32), np.ones((2, 8), np.float32))
    text = str(caught.value)
    text = re.sub(re.escape(wrong_programs.__file__) + r":(\d+)", lambda m: f"line {int(m[1]) - first:+}", text)
    text = re.sub(r"\bline (\d+)", lambda m: f"line {int(m[1]) - first:+}", text)
    return f"{type(caught.value).__mro__[2].__name__}\n{text}\n"


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    assert message(name) == MESSAGES[name]


def test_every_program_has_a_message():
    assert set(wrong_programs.KERNELS) == set(MESSAGES)
