"""The survey's list: what is launched of each program, with which tensors, and how it runs under upstream and under Tilery."""

import importlib.util
import sys
import tempfile
from pathlib import Path

import torch

bf, hf, f32 = torch.bfloat16, torch.float16, torch.float32
CASES = {}  # name -> (function of an Environment and the configuration's numbers, these numbers)
UPSTREAM = "import triton\nimport triton.language as tl"
OURS = "from tilery import tileon as triton\nimport tilery.tileon.language as tl"
PROGRAMS = ("product_programs", "row_programs", "attention_programs")


def case(*configurations):
    """Decorator: a program's launch, once for each configuration. The function returns (launch, tensors that it writes)."""

    def add(function):
        for numbers in configurations:
            CASES[f"{function.__name__}[{'-'.join(map(str, numbers))}]"] = (function, numbers)
        return function

    return add


def ceiling(a, b):
    return -(-a // b)


def programs(ours):
    """The modules of programs, as they stand or with Tilery's imports."""
    modules = []
    for name in PROGRAMS:
        text = Path(__file__).with_name(f"{name}.py").read_text()
        folder = Path(tempfile.mkdtemp(prefix="survey-"))
        file = folder / f"{name}_{'ours' if ours else 'theirs'}.py"
        file.write_text(text.replace(UPSTREAM, OURS) if ours else text)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        modules.append(module)
    return modules


class Environment:
    """What a launch is made of: the programs (P: products, R: rows, A: attention), tensors from one seed, small or a user's."""

    def __init__(self, modules, device, small):
        self.P, self.R, self.A = modules
        self.device, self.small = device, small
        torch.manual_seed(1)

    def rn(self, *shape, dtype=bf):
        return torch.randn(*shape, device=self.device).to(dtype)

    def ri(self, low, high, shape, dtype=torch.int32):
        return torch.randint(low, high, shape, device=self.device, dtype=torch.int64).to(dtype)

    def out(self, *shape, dtype=bf):
        return torch.full(shape, float("nan") if dtype.is_floating_point else 77, device=self.device).to(dtype)

    def zeros(self, *shape, dtype=f32):
        return torch.zeros(*shape, device=self.device, dtype=dtype)
