"""Each wrong program gives exactly its message. Lines are relative to the function's decorator; the file is left out."""

import re
from pathlib import Path

import pytest
from errors.tilelang import wrong_programs

from tilery import tilelang
from tilery.errors import Error
from tilery.tilelang.functions import PrimFunc

TEXT = Path(__file__).with_name("messages.txt").read_text()
MESSAGES = dict(re.findall(r"^=== (\w+) (.*?)(?=^===|\Z)", TEXT, re.M | re.S))
PROGRAMS = {name: program for name, program in vars(wrong_programs).items() if isinstance(program, PrimFunc)}


def message(name):
    """'BuiltinError\\n...' as compiling the program raises it."""
    program = PROGRAMS[name]
    first = program.function.__code__.co_firstlineno
    with pytest.raises(Error) as caught:
        tilelang.compile(program).get_kernel_source()
    text = str(caught.value)
    text = re.sub(re.escape(wrong_programs.__file__) + r":(\d+)", lambda m: f"line {int(m[1]) - first:+}", text)
    return f"{type(caught.value).__mro__[2].__name__}\n{text}\n"


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    assert message(name) == MESSAGES[name]


def test_every_program_has_a_message():
    assert set(PROGRAMS) == set(MESSAGES)
