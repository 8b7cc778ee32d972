"""The version stands in one place, CMakeLists.txt; the library, the package and the wheel have it from there."""

import re
from pathlib import Path

import pytest

import tilery

ROOT = Path(__file__).resolve().parents[1]


def test_package_and_wheel_have_the_version_of_cmake():
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    cmake = (ROOT / "CMakeLists.txt").read_text()
    (version,) = re.findall(r"^project\(tilery VERSION (\d+\.\d+\.\d+) ", cmake, re.M)
    assert tilery.__version__ == version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    provider = project["tool"]["scikit-build"]["metadata"]["version"]
    assert provider["input"] == "CMakeLists.txt"
    assert re.search(provider["regex"], cmake)["value"] == version
