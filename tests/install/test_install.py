"""What `cmake --install` puts under a prefix is enough for programs outside of this tree."""

import os
import re
import subprocess
import sys
from pathlib import Path

import installed
import pytest

BUILD = Path(os.environ.get("TILERY_BUILD_DIR", "nowhere"))
pytestmark = pytest.mark.skipif(not (BUILD / "libtilery.so").exists(), reason="needs a finished build: ./run build")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    installed.run("/usr/bin/cmake", "--install", BUILD, "--prefix", folder, "--strip")
    return folder


def test_cpp_program_with_the_compiler(prefix, tmp_path):
    installed.check_compiler(prefix, tmp_path)


def test_c_program_with_the_runtime_alone(prefix, tmp_path):
    installed.check_runtime(prefix, sys.executable, tmp_path)


def test_nothing_of_llvm_is_seen(prefix):
    listing = installed.run("nm", "-DC", "--defined-only", prefix / "lib" / "libtilery.so")
    names = re.findall(r"^\w+ \w (.*)$", listing, re.M)
    ours = r"(typeinfo for |typeinfo name for |vtable for )?tilery::|tilery_aot_"
    assert not [name for name in names if not re.match(ours, name)]
    assert not [name for name in names if re.search(r"\b(llvm|mlir)::", name)]
    assert any("tilery::compile(" in name for name in names)


def test_missing_component(prefix, tmp_path):
    (prefix / "lib" / "libtilery.so").rename(prefix / "lib" / "away.so")
    command = ["/usr/bin/cmake", "-S", installed.PROGRAMS / "compiler", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True)
    (prefix / "lib" / "away.so").rename(prefix / "lib" / "libtilery.so")
    assert done.returncode and "component compiler is not installed here" in re.sub(r"\s+", " ", done.stderr)
