# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from ...core.tile.math import softmax as softmax
from ...core.tile.math import cdiv as cdiv
from ...core.tile.math import swizzle2d as swizzle2d
from ...core.tile.creation import zeros as zeros
from ...core.tile.creation import zeros_like as zeros_like
from ...core.tile.shape import squeeze as squeeze
from ...core.tile.shape import unsqueeze as unsqueeze
from ...core.tile.shape import ravel as ravel
from ...core.tile.shape import flip as flip
from ...core.tile.shape import interleave as interleave
from ...core.tile.reduction import sum as sum
from ...core.tile.reduction import max as max
from ...core.tile.reduction import min as min
from ...core.tile.reduction import argmax as argmax
from ...core.tile.reduction import argmin as argmin
from ...core.tile.reduction import xor_sum as xor_sum
from ...core.tile.reduction import reduce_or as reduce_or
from ...core.tile.reduction import cumsum as cumsum
from ...core.tile.reduction import cumprod as cumprod
from ...core.tile.reduction import sort as sort
from ...core.tile.reduction import topk as topk
from ...core.tile.reduction import bitonic_merge as bitonic_merge
from ...core.tile.elementwise import sigmoid as sigmoid
