import subprocess
import sys


def test_import_leaves_torch_alone():
    code = "import sys, tilery._native; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
