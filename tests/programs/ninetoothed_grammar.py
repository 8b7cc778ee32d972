"""NineToothed programs as their users write them: an arrangement of tensors, an application, and what is passed.

Elements of tiles (ninetoothed_elements.py), rows and columns in passes over tiles (ninetoothed_rows.py, ninetoothed_phases.py),
levels between (ninetoothed_levels.py), windows (ninetoothed_windows.py), products and attention (ninetoothed_products.py),
indices that are read (ninetoothed_indices.py)."""

from programs.frame import Program
from programs.ninetoothed_elements import write_copies, write_elements, write_integers
from programs.ninetoothed_indices import write_indices
from programs.ninetoothed_levels import write_levels
from programs.ninetoothed_phases import write_rows
from programs.ninetoothed_products import write_attention, write_convolution, write_matmul
from programs.ninetoothed_windows import write_pooling, write_rotary

KINDS = [
    (write_elements, 0.2),
    (write_integers, 0.05),
    (write_copies, 0.06),
    (write_rows, 0.4),
    (write_levels, 0.06),
    (write_pooling, 0.05),
    (write_rotary, 0.02),
    (write_indices, 0.08),
    (write_matmul, 0.1),
    (write_convolution, 0.04),
    (write_attention, 0.06),
]


def write(rng, seed):
    writers, weights = zip(*KINDS)
    source, arguments = rng.choices(writers, weights)[0](rng).source()
    return Program("ninetoothed", seed, source, arguments)
