"""In a fresh process: milliseconds of the import and of the first call of the matmul kernel for each three block sizes given."""

import json
import sys
import time
from pathlib import Path

start = time.perf_counter()
import tilery.tileon  # noqa: E402, F401

imported = time.perf_counter() - start

import torch  # noqa: E402

from tilery import compat  # noqa: E402

matmul = compat.load(Path(__file__).resolve().parent.parent / "examples" / "tileon" / "matmul.py").matmul
a, b, c = torch.randn(64, 64), torch.randn(64, 64), torch.empty(64, 64)
numbers = list(map(int, sys.argv[1:]))
calls = []
for at in range(0, len(numbers), 3):
    start = time.perf_counter()
    matmul(a, b, c, numbers[at : at + 3])
    calls.append(1e3 * (time.perf_counter() - start))
json.dump({"import": 1e3 * imported, "calls": calls}, sys.stdout)
