import subprocess
import sys

import pytest

# What costs milliseconds and few programs need.
DEAR = {"torch", "numpy", "hashlib", "platform", "json", "tempfile", "concurrent.futures", "tilery.aot", "tilery.tileon.testing"}


@pytest.mark.parametrize("module", ["tilery._native", "tilery.tileon", "tilery.tilelang", "tilery.ninetoothed"])
def test_import_leaves_alone_what_few_programs_need(module):
    code = f"import sys, {module}; print(sorted({DEAR} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_few_programs_need_is_there_when_it_is_asked_for():
    code = """
from tilery import ninetoothed, tileon
from tilery.ninetoothed import language as ntl
from tilery.tileon import language as tl
print(tileon.testing.do_bench, tl.extra.libdevice.fdim, ntl.libdevice.fdim, ntl.extra.cuda, ninetoothed.aot.aot)
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
