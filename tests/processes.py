"""Programs in Python processes of their own."""

import os
import subprocess
import sys

import pytest

import tilery

# Where this process found tilery: the sources and, once built, the native module.
ROOTS = [os.path.dirname(path) for path in tilery.__path__]


@pytest.fixture
def python(tmp_path):
    """Runs Python on `files` (name -> source) written to a fresh folder; the folder `site` in it is importable."""

    def run(*arguments, files=(), environment=(), text=None):
        for name, source in dict(files).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("TILERY_")}
        path = os.pathsep.join([str(tmp_path / "site"), *ROOTS])
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
            env={**inherited, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", **dict(environment)},
        )

    return run


@pytest.fixture
def tilery_run(python):
    """Runs `source` under `tilery run` and returns its standard output; it must succeed."""

    def run(source, files=(), environment=()):
        done = python("-m", "tilery", "run", "program.py", files={"program.py": source, **dict(files)}, environment=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
