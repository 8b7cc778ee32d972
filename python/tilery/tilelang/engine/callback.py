"""Callbacks on the text of another language: there is none to call them with."""

from ..refused import TEXT, function

register_cuda_postproc = function("register_cuda_postproc", TEXT)
register_hip_postproc = function("register_hip_postproc", TEXT)
register_c_postproc = function("register_c_postproc", TEXT)
register_cuda_postproc_callback = function("register_cuda_postproc_callback", TEXT)
register_hip_postproc_callback = function("register_hip_postproc_callback", TEXT)
register_c_postproc_callback = function("register_c_postproc_callback", TEXT)
register_metal_postproc_callback = function("register_metal_postproc_callback", TEXT)
