# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from .....core.tile.libdevice import *
