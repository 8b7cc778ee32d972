import gc

import pytest
from frontend.toy import trace


@pytest.fixture(autouse=True)
def eager_collection():
    """Any few new objects start a collection."""
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(1, 1, 1)
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_during_a_trace(enabled):
    (gc.enable if enabled else gc.disable)()
    collected = []

    def note(phase, info):
        collected.append(phase)

    def f(a, b):
        gc.callbacks.append(note)
        made = [[a, b] for _ in range(100)]
        gc.callbacks.remove(note)
        return made[0][0] + b

    trace(f, 1, 2)
    assert not collected
    assert gc.isenabled() == enabled


def test_a_trace_that_fails_leaves_collection_as_it_was():
    def f(a):
        return a + missing  # noqa: F821

    with pytest.raises(NameError):
        trace(f, 1)
    assert gc.isenabled()
