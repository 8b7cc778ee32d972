"""What the modules of the languages offer, and what they say of names they do not."""

import importlib
import inspect

import pytest

from tilery.core.functions.row import Written

MODULES = {
    "tl": "tilery.tileon.language",
    "tl.math": "tilery.tileon.language.math",
    "tl.random": "tilery.tileon.language.random",
    "tl.core": "tilery.tileon.language.core",
    "tl.standard": "tilery.tileon.language.standard",
    "tl.extra.libdevice": "tilery.tileon.language.extra.libdevice",
    "ntl": "tilery.ninetoothed.language",
    "ntl.math": "tilery.ninetoothed.language.math",
    "ntl.random": "tilery.ninetoothed.language.random",
    "ntl.libdevice": "tilery.ninetoothed.language.libdevice",
    "T": "tilery.tilelang.language",
}


def module(name):
    return importlib.import_module(MODULES[name])


def spaces():
    """Each namespace once."""
    return {id(m.__getattr__): m.__getattr__.__self__ for m in map(module, MODULES)}.values()


@pytest.mark.parametrize("name", MODULES)
def test_every_name_is_there(name):
    space = module(name)
    for public in space.__all__:
        assert getattr(space, public) is getattr(space, public) and public in dir(space)


@pytest.mark.parametrize("name", MODULES)
def test_functions_say_what_they_are(name):
    space = module(name)
    for public in space.__all__:
        function = getattr(space, public)
        if inspect.isfunction(function):
            assert function.__module__.startswith("tilery.") and function.__doc__, public
            kinds = {p.kind for p in inspect.signature(function).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, f"{name}.{public} swallows wrong arguments"


def test_no_name_has_two_rows():
    for space in spaces():
        names = [name for place in space.places for name in space.rows_at(place)]
        assert len(names) == len(set(names)), space.module


def test_written_functions_have_a_first_sentence():
    for space in spaces():
        for name, (row, _) in space.offered.items():
            if isinstance(row, Written):
                assert (space.get(name).__doc__ or "").split("\n\n")[0].rstrip().endswith((".", "?")), name


def test_signatures():
    tl, library, T = module("tl"), module("tl.extra.libdevice"), module("T")
    none = tl.PropagateNan.NONE
    assert str(inspect.signature(tl.fdiv)) == "(x, y, ieee_rounding=False)"
    assert str(inspect.signature(tl.clamp)) == f"(x, min, max, propagate_nan={none!r})"
    assert str(inspect.signature(library.fma)) == "(arg0, arg1, arg2)"
    assert str(inspect.signature(T.round)) == "(x, mode='ties-to-even')"
    assert tl.exp.__doc__ == "e to the power of x." and tl.exp.__qualname__ == "exp" and tl.math.exp is tl.exp


def test_wrong_arguments_are_refused():
    T = module("T")
    with pytest.raises(TypeError, match=r"exp\(\) takes 1 positional argument but 2 were given"):
        T.exp(1.0, 2.0)
    with pytest.raises(TypeError, match=r"exp\(\) got an unexpected keyword argument 'fast'"):
        T.exp(1.0, fast=True)
    with pytest.raises(ValueError, match="unknown mode 'up'"):
        T.round(1.5, "up")
    with pytest.raises(ValueError, match=r"rbits is required by T.cast\(round='rs'\)"):
        T.cast(1.0, "float16", round="rs")
    with pytest.raises(ValueError, match="rbits is only valid with round='rs', not with 'rz'"):
        T.cast(1.0, "float16", round="rz", rbits=7)
    with pytest.raises(ValueError, match="Invalid round 'nearest' of T.cast"):
        T.cast(1.0, "float16", round="nearest")


@pytest.mark.parametrize(
    "name, wrong, message, hint",
    [
        ("tl", "expp", "there is no tl.expp", "did you mean tl.exp?"),
        ("tl", "dispatch", "tl.dispatch is not supported", "text of another language"),
        ("tl.math", "sigmod", "there is no tl.math.sigmod", "did you mean tl.math.sigmoid?"),
        ("tl", "tanh", "there is no tl.tanh", "libdevice has it: `from tilery.tileon.language.extra import libdevice`, then"),
        ("ntl", "round", "there is no ntl.round", "libdevice has it: ntl.libdevice.round"),
        ("T", "gelu", "there is no T.gelu", "write it as 0.5 * x * (1 + T.erf(x * 0.70710678))"),
        ("tl", "relu", "there is no tl.relu", "write it as tl.maximum(x, 0.0)"),
        ("ntl", "zzz", "there is no ntl.zzz", None),
        ("ntl.libdevice", "hypott", "there is no libdevice.hypott", "did you mean libdevice.hypot?"),
        ("T", "allocshared", "there is no T.allocshared", "did you mean T.alloc_shared?"),
        ("T", "alloc_tmem", "T.alloc_tmem is not supported", "tensor memory and its instructions exist on GPUs of sm_100 only"),
    ],
)
def test_names_that_are_not_there(name, wrong, message, hint):
    with pytest.raises(AttributeError) as caught:
        getattr(module(name), wrong)
    said = caught.value.hint
    assert caught.value.message == message and (said.startswith(hint) if hint else said is None)
    assert not hasattr(module(name), "__wrong__")
