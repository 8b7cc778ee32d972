import pytest

from tilery.core.switches import is_on, switch
from tilery.errors import Error


@pytest.mark.parametrize("text, on", [("1", True), ("TRUE", True), ("Yes", True), ("0", False), ("off", False), ("N", False)])
def test_words(text, on):
    assert is_on("TRITON_DEBUG", text) == on


@pytest.mark.parametrize("text", ["2", "-1", "1 ", "yess", "nan", "\udcff", "1" * 1000])
def test_other_words_are_refused(text):
    with pytest.raises(Error, match="TRITON_DEBUG is '.*'; expected 1 ") as caught:
        is_on("TRITON_DEBUG", text)
    assert isinstance(caught.value, ValueError)


def test_what_is_not_set(monkeypatch):
    monkeypatch.delenv("TRITON_DEBUG", raising=False)
    assert not switch("TRITON_DEBUG") and switch("TRITON_DEBUG", default=True)
    monkeypatch.setenv("TRITON_DEBUG", "")
    assert switch("TRITON_DEBUG", default=True)
    monkeypatch.setenv("TRITON_DEBUG", "false")
    assert not switch("TRITON_DEBUG", default=True)
    monkeypatch.setenv("TRITON_DEBUG", "maybe")
    with pytest.raises(ValueError):
        switch("TRITON_DEBUG")
