"""Each wrong program gives exactly its message."""

import pytest
from errors import messages
from errors.tilelang import wrong_programs

from tilery import tilelang
from tilery.tilelang.language import PrimFunc

MESSAGES = messages.expected(__file__)
PROGRAMS = {name: program for name, program in vars(wrong_programs).items() if isinstance(program, PrimFunc)}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    program = PROGRAMS[name]
    assert messages.raised(lambda: tilelang.compile(program).get_kernel_source(), program.function) == MESSAGES[name]


def test_every_program_has_a_message():
    assert set(PROGRAMS) == set(MESSAGES)
