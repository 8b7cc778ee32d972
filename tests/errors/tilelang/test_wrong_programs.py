"""Each wrong program gives exactly its message."""

import pytest
from errors import messages
from errors.tilelang import wrong_options, wrong_roles, wrong_updates  # noqa: F401 more of them
from errors.tilelang.wrong_programs import PROGRAMS

from tilery import tilelang
from tilery.tilelang import language as T

MESSAGES = messages.expected(__file__)


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name):
    program = PROGRAMS[name]
    assert messages.raised(lambda: tilelang.compile(T.prim_func(program)), program) == MESSAGES[name]


def test_every_program_has_a_message():
    assert set(PROGRAMS) == set(MESSAGES)
