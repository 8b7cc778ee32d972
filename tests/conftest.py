"""`--slice K/N`: only each N-th of the chosen tests, from the K-th on (./run test long).
With TILERY_EMULATE "cuda" means the CPU, in whose memory the emulated GPU computes."""

import os

import pytest

if os.environ.get("TILERY_EMULATE"):
    from tilery.compat import device

    device.install()


def pytest_addoption(parser):
    parser.addoption("--slice", metavar="K/N", default="1/1", help="run the K-th of N slices of the chosen tests")


def pytest_collection_modifyitems(config, items):
    for item in items if os.environ.get("TILERY_EMULATE") else ():
        if any(not mark.kwargs.get("emulated", True) for mark in item.iter_markers("gpu")):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU that is not emulated"))
    part, parts = map(int, config.getoption("slice").split("/"))
    dropped = [item for index, item in enumerate(items) if index % parts != part - 1]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = items[part - 1 :: parts]
