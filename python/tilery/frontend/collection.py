"""When Python must not look for garbage."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """No garbage is collected meanwhile. A trace, and importing what it needs, makes thousands of objects that stay; where they
    are the ones too many, Python looks through everything the process has loaded, which takes longer than the trace (with torch
    50 ms; 100 in a process that was forked, whose memory is copied thereby)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
