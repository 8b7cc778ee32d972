"""Each wrong kernel gives exactly its message. Lines are relative to the kernel's decorator; the file is left out."""

import re
from pathlib import Path

import numpy as np
import pytest
from errors.tileon import wrong_programs

from tilery.errors import Error

TEXT = Path(__file__).with_name("messages.txt").read_text()
MESSAGES = dict(re.findall(r"^=== (\w+) (.*?)(?=^===|\Z)", TEXT, re.M | re.S))


def message(name):
    """'BuiltinError\\n...' as launching the kernel raises it."""
    kernel = getattr(wrong_programs, name)
    first = kernel.fn.__code__.co_firstlineno
    arguments = [np.zeros(64, np.float32)] + [7] * ("n" in kernel.arg_names)
    with pytest.raises(Error) as caught:
        kernel[(1,)](*arguments, BLOCK=16)
    text = str(caught.value)
    text = re.sub(re.escape(wrong_programs.__file__) + r":(\d+)", lambda m: f"line {int(m[1]) - first:+}", text)
    text = re.sub(r"\bline (\d+)", lambda m: f"line {int(m[1]) - first:+}", text)
    return f"{type(caught.value).__mro__[2].__name__}\n{text}\n"


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    assert message(name) == MESSAGES[name]


def test_every_program_has_a_message():
    kernels = {n for n, k in vars(wrong_programs).items() if hasattr(k, "arg_names")} - {"helper"}
    assert kernels == set(MESSAGES)
