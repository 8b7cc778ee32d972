"""`tilery run` behaves as `python` does."""


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
        and "cli.py" not in done.stderr
        and done.stderr.endswith("ZeroDivisionError: division by zero\n")
    )


def test_usage(python):
    assert python("-m", "tilery", "--help", files={}).stdout.startswith("usage: tilery run")
    for arguments in ((), ("run",), ("run", "-m"), ("walk", "x.py")):
        done = python("-m", "tilery", *arguments, files={})
        assert done.returncode == 2 and done.stderr.startswith("usage: ")
    done = python("-m", "tilery", "run", "missing.py", files={})
    assert (done.returncode, done.stderr) == (2, "tilery: cannot run 'missing.py': no such file\n")


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
