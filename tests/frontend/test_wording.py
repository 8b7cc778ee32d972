"""Messages in a language's words."""

import pytest

from tilery import _native
from tilery.frontend.wording import counted, in_words

WORDS = {"Memory": "a buffer", "Val": "a run-time number"}


@pytest.mark.parametrize(
    "message, expected",
    [
        ("unsupported operand type(s) for +: 'Memory' and 'int'", "unsupported operand type(s) for +: a buffer and 'int'"),
        ("'Val' object is not subscriptable", "a run-time number is not subscriptable"),
        ("'Value' object is not iterable", "'Value' object is not iterable"),
        ("", ""),
    ],
)
def test_classes(message, expected):
    assert in_words(message, WORDS) == expected


def test_what_the_binding_refuses():
    with pytest.raises(TypeError) as refused:
        _native.Builder("triton").select(None, "a", 1.0)
    assert in_words(str(refused.value), WORDS) == "this takes no arguments of such types: None, str, float"


@pytest.mark.parametrize("number, told", [(0, "0 indices"), (1, "1 index"), (2, "2 indices")])
def test_counts(number, told):
    assert counted(number, "index", "indices") == told
    assert counted(number, "size") == told.replace("indices", "sizes").replace("index", "size")
