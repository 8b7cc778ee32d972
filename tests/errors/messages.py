"""Messages of wrong programs, as messages.txt beside the tests keeps them: `=== NAME BuiltinError`, then the text."""

import re
from pathlib import Path

import pytest

from tilery.errors import Error


def expected(test_file):
    """{name: 'BuiltinError\\n...'} of the messages.txt beside a test."""
    text = Path(test_file).with_name("messages.txt").read_text()
    return dict(re.findall(r"^=== (\w+) (.*?)(?=^===|\Z)", text, re.M | re.S))


def relative(text, function):
    """Lines relative to the decorator of `function`; its file is left out."""
    code = function.__code__

    def line(match):
        return f"line {int(match[1]) - code.co_firstlineno:+}"

    return re.sub(r"\bline (\d+)", line, re.sub(re.escape(code.co_filename) + r":(\d+)", line, text))


def raised(call, function):
    """What `call` raises, in the same form."""
    with pytest.raises(Error) as caught:
        call()
    builtin = next(t for t in type(caught.value).__mro__ if t.__module__ == "builtins")
    return f"{builtin.__name__}\n{relative(str(caught.value), function)}\n"


def without_place(error):
    """What is wrong and what to change, without the lines."""
    return error.message if not error.hint else f"{error.message}\n  hint: {error.hint}"
