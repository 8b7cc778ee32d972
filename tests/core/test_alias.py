import subprocess
import sys


def test_triton_is_tileon_in_every_module():
    code = """
import types
from tilery import tileon, triton
assert triton is tileon
from tilery.triton.runtime.driver import driver
import tilery.triton.language.extra.cuda.libdevice as cuda
import tilery.tileon.language.extra.cuda.libdevice as same
import tilery.triton.compiler.errors
assert cuda is same and driver is triton.runtime.driver is tileon.runtime.driver
assert tilery.triton.compiler.errors is tileon.compiler.errors
assert triton.__name__ == triton.__spec__.name == "tilery.tileon"
try:
    import tilery.triton.nothing
except ModuleNotFoundError as error:
    assert error.name == "tilery.triton.nothing"
else:
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
