"""`tilery run` behaves as `python` does."""

import argparse

import pytest

from tilery.commands import run


def test_program_is_main(tilery_run):
    out = tilery_run(
        """
import sys, os, helper
assert "torch" not in sys.modules
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
assert __file__ == "program.py" and sys.argv == ["program.py"]
def f(): pass
import inspect
def annotated(x: int): pass
assert annotated.__annotations__ == {"x": int}
assert inspect.getsource(f) == "def f(): pass\\n"
print(helper.VALUE)
""",
        {"helper.py": "VALUE = 7"},
    )
    assert out == "7\n"


def test_arguments_and_exit_status(python):
    done = python(
        "-m", "tilery", "run", "program.py", "-a", "b", files={"program.py": "import sys; print(sys.argv); sys.exit(3)"}
    )
    assert (done.returncode, done.stdout) == (3, "['program.py', '-a', 'b']\n")


def test_module(python):
    done = python(
        "-m",
        "tilery",
        "run",
        "-m",
        "package.main",
        "x",
        files={"package/__init__.py": "", "package/main.py": "import sys; print(__name__, sys.argv[1:], __package__)"},
    )
    assert (done.returncode, done.stdout) == (0, "__main__ ['x'] package\n")


def test_traceback_shows_the_program_only(python):
    done = python("-m", "tilery", "run", "program.py", files={"program.py": "def f():\n    1 / 0\nf()\n"})
    assert done.returncode == 1
    assert (
        done.stderr.count("File ") == 2
        and "tilery/" not in done.stderr
        and done.stderr.endswith("ZeroDivisionError: division by zero\n")
    )


KERNEL = """
import torch, triton
import triton.language as tl

@triton.jit
def fill(x, value, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), value)

x = torch.zeros(4)
fill[(1,)](x, 2.5, N=4)
print(x.tolist(), __name__)
"""


def test_text_and_standard_input(python, tmp_path):
    """Kernels are compiled from their text, which is nobody's file."""
    fresh = {"TILERY_CACHE_DIR": str(tmp_path / "cache")}
    done = python("-m", "tilery", "run", "-c", KERNEL + "import sys; print(sys.argv)", "a", "-m", environment=fresh)
    assert (done.returncode, done.stdout) == (0, "[2.5, 2.5, 2.5, 2.5] __main__\n['-c', 'a', '-m']\n"), done.stderr
    fresh = {"TILERY_CACHE_DIR": str(tmp_path / "another")}
    done = python("-m", "tilery", "run", "-", "b", text=KERNEL + "import sys; print(sys.argv)", environment=fresh)
    assert (done.returncode, done.stdout) == (0, "[2.5, 2.5, 2.5, 2.5] __main__\n['-', 'b']\n"), done.stderr


@pytest.mark.parametrize(
    "given, wanted",
    [
        (["-c", "pass", "a", "--", "-m", "b"], ("code", "pass", ("a", "--", "-m", "b"))),
        (["-m", "json.tool", "--", "-c"], ("module", "json.tool", ("--", "-c"))),
        (["-", "-c", "--", "x"], ("program", "-", ("-c", "--", "x"))),
        (["--", __file__, "--help"], ("program", __file__, ("--help",))),
    ],
)
def test_arguments_are_those_of_the_program(given, wanted):
    parser = argparse.ArgumentParser()
    run.add_program(parser)
    found = run.program_of(parser.parse_args(given))
    assert (found.kind, found.name, found.arguments) == wanted


WRONG = """
import torch, triton
import triton.language as tl

@triton.jit
def wrong(x):
    tl.store(x, missing)

def call():
    wrong[(1,)](torch.zeros(1))

call()
"""


def test_errors_of_kernels_show_frames_of_the_program_alone(python):
    ways = (["program.py"], None, "program.py"), (["-c", WRONG], None, "<string>"), (["-"], WRONG, "<stdin>")
    for arguments, text, name in ways:
        done = python("-m", "tilery", "run", *arguments, files={"program.py": WRONG}, text=text)
        assert done.returncode == 1
        _, _, trace = done.stderr.partition("Traceback (most recent call last):\n")
        frames = [line for line in trace.splitlines() if line.startswith('  File "')]
        assert frames == [f'  File "{name}", line 12, in <module>', f'  File "{name}", line 10, in call'], done.stderr
        assert f"{name}:7:17: at 2:16: in `wrong`\n    tl.store(x, missing)\n" in trace and "is not defined" in trace
        assert "direct cause" not in done.stderr and "During handling" not in done.stderr


def test_faults_of_our_own_show_where(python):
    """An exception that is none of Tilery's and comes from within it is shown whole."""
    program = "from tilery.core import cache\ncache.target_of(object())\n"
    done = python("-m", "tilery", "run", "program.py", files={"program.py": program})
    assert done.returncode == 1 and "cache.py" in done.stderr and "commands" not in done.stderr


def test_interrupts(python):
    done = python("-m", "tilery", "run", "-c", "def f():\n    raise KeyboardInterrupt\nf()")
    assert done.returncode == 130 and done.stderr.endswith("KeyboardInterrupt\n")
    assert "tilery" not in done.stderr.partition("Traceback")[2]


def test_usage(python):
    for arguments in ((), ("-m",), ("-c",), ("-x",)):
        done = python("-m", "tilery", "run", *arguments)
        assert done.returncode == 2 and "tilery run" in done.stderr, arguments
    for name, why in (("missing.py", "no such file"), (".", "it is a folder")):
        done = python("-m", "tilery", "run", name)
        assert (done.returncode, done.stderr) == (2, f"tilery: cannot run '{name}': {why}\n")
    done = python("-m", "tilery", "run", "-m", "missing.module")
    assert done.returncode == 1 and "tilery: cannot run the module 'missing.module'" in done.stderr
    assert "No module named 'missing'" in done.stderr and "Traceback" not in done.stderr


def test_pytest_plugin(python):
    done = python(
        "-m",
        "pytest",
        "-q",
        "-p",
        "tilery.compat",
        "-p",
        "no:cacheprovider",
        files={
            "conftest.py": "import tilelang\nassert tilelang.__name__ == 'tilery.tilelang'\n",
            "test_it.py": "import torch\ndef test_it():\n    assert torch.ones(2, device='cuda').is_cuda\n",
        },
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count('the device "cuda" means the CPU') == 1
