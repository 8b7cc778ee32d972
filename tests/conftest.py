"""`--slice K/N`: only each N-th of the chosen tests, from the K-th on (./run test long).
`--assembled K/N`: of each test that assembles what it compiles for GPUs, too (tests/ptx.py), the first case and a slice do.
`--share FOLDER`: processes with the same folder and arguments share the files of tests, each of which one of them runs.
With TILERY_EMULATE "cuda" means the CPU, in whose memory the emulated GPU computes."""

import os
from pathlib import Path

import pairs
import pytest

if os.environ.get("TILERY_EMULATE"):
    from tilery.compat import device

    device.install()


def pytest_addoption(parser):
    parser.addoption("--slice", metavar="K/N", default="1/1", help="run the K-th of N slices of the chosen tests")
    parser.addoption("--assembled", metavar="K/N", default="1/1", help="assemble what the K-th of N slices of the cases compile")
    parser.addoption("--share", metavar="FOLDER", type=Path, help="run the files of tests that no process has noted here")


def pytest_collection_modifyitems(config, items):
    pairs.mark_others(items)
    for item in items if os.environ.get("TILERY_EMULATE") else ():
        if any(not mark.kwargs.get("emulated", True) for mark in item.iter_markers("gpu")):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU that is not emulated"))
    part, parts = map(int, config.getoption("slice").split("/"))
    dropped = [item for index, item in enumerate(items) if index % parts != part - 1]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = items[part - 1 :: parts]


def pytest_runtestloop(session):
    """Runs a file of tests after the other, as long as there is one that no other process has begun."""
    folder = session.config.getoption("share")
    if folder is None or session.testsfailed or session.config.getoption("collectonly"):
        return None  # pytest's own loop
    files = {}
    for item in session.items:
        files.setdefault(item.path, []).append(item)
    for path, items in files.items():
        if not is_first(folder / str(path.relative_to(session.config.rootpath)).replace(os.sep, ":")):
            continue
        for item, following in zip(items, [*items[1:], None]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                raise session.Failed(session.shouldfail or session.shouldstop)
    return True


def is_first(note):
    """Makes the file `note`, unless another process has."""
    try:
        note.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
