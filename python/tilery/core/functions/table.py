"""The rows of all elementwise functions."""

from . import device, elementwise, special

ROWS = (*elementwise.ROWS, *device.ROWS, *special.ROWS)
