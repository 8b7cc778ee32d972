import os
import subprocess
import sys
from pathlib import Path

import pytest

# What costs milliseconds and only a trace needs: not a program whose kernels the disk cache has.
TRACING = {
    "tilery.core.functions.table",
    "tilery.core.tile.methods",
    "tilery.core.tile.tracer",
    "tilery.frontend.rewrite",
    "tilery.ninetoothed.trace",
    "tilery.tilelang.tracing.trace",
}
# What costs milliseconds and few programs need.
RARE = {"torch", "numpy", "hashlib", "platform", "json", "tempfile", "concurrent.futures", "tilery.aot", "tilery.tileon.testing"}
DEAR = TRACING | RARE | {"tilery.core.oracle"}


IMPORTS = [f"import {name}" for name in ("tilery._native", "tilery.tileon", "tilery.tilelang", "tilery.ninetoothed")]
IMPORTS += ["import tilery.triton", "from tilery import compat; compat.install(); import triton.language, tilelang, ninetoothed"]


@pytest.mark.parametrize("imports", IMPORTS)
def test_import_leaves_alone_what_few_programs_need(imports):
    code = f"import sys; {imports}; print(sorted({DEAR} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_what_few_programs_need_is_there_when_it_is_asked_for():
    code = """
from tilery import ninetoothed, tileon
from tilery.ninetoothed import language as ntl
from tilery.tileon import language as tl
print(tileon.testing.do_bench, tl.extra.libdevice.fdim, ntl.libdevice.fdim, ntl.extra.cuda, ninetoothed.aot.aot)
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("example", ["tileon/matmul.py", "ninetoothed/addmm.py", "tilelang/matmul.py"])
def test_what_the_disk_cache_has_is_not_traced(example, tmp_path):
    code = f"""
import runpy, sys
from tilery import compat
compat.install()
runpy.run_path({str(EXAMPLES / example)!r}, run_name="__main__")
print(sorted({TRACING} & sys.modules.keys()))
"""
    environment = {**os.environ, "TILERY_CACHE_DIR": str(tmp_path), "TILERY_ORACLE": ""}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "[]"
