import pytest


def seeds(usual, all):
    """Parameters of a random test: the first `usual` seeds in every run, the others in `./run test long`."""
    return [*range(usual), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(usual, all))]
