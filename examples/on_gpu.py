"""Runs an example on a GPU: tensors that name no device are made there.

usage: ./run python examples/on_gpu.py PROGRAM
"""

import sys

import torch

from tilery import cli

torch.set_default_device("cuda")
sys.exit(cli.main(["run", *sys.argv[1:]]))
