"""Pages that are made from the sources are up to date."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_table_of_ops():
    subprocess.run([sys.executable, ROOT / "tools/ir_docs.py", "--check"], check=True)


def test_functions_of_the_languages():
    subprocess.run([sys.executable, ROOT / "tools/functions.py", "--check"], check=True)
