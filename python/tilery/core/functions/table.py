"""The rows of all elementwise functions."""

from . import bessel, device, elementwise, special

ROWS = (*elementwise.ROWS, *device.ROWS, *special.ROWS, *bessel.ROWS)
