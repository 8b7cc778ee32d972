"""The runtime is a library of its own: code that was compiled ahead of time links it without the compiler."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

LIBRARY = Path(os.environ["TILERY_BUILD_DIR"]) / "libtilery_rt.a"


@pytest.mark.skipif(not LIBRARY.exists() or not shutil.which("nm"), reason="needs a build folder and binutils")
def test_no_symbol_is_llvms():
    symbols = subprocess.run(["nm", "--demangle", LIBRARY], capture_output=True, text=True, check=True).stdout
    assert " U memcpy" in symbols and "T tilery::launch(" in symbols
    assert not re.findall(r".*\b(?:llvm|mlir)::.*", symbols)
