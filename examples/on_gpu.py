"""Runs examples on a GPU, one after the other: tensors that name no device are made there.

usage: ./run python examples/on_gpu.py PROGRAM ...
"""

import sys

import torch

from tilery import cli

torch.set_default_device("cuda")
for program in sys.argv[1:]:
    if status := cli.main(["run", program]):
        sys.exit(status)
