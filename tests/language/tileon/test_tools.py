"""Tools beside the language: extension modules, disassembly, what launches tell of arguments."""

import shutil

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import knobs
from tilery.tileon.runtime import jit
from tilery.tileon.runtime.build import compile_module_from_src
from tilery.tileon.tools import disasm

SOURCE = """
#include <Python.h>
static PyObject *twice(PyObject *self, PyObject *x) { (void)self; return PyLong_FromLong(2 * PyLong_AsLong(x)); }
static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "doubling", NULL, -1, methods};
PyMODINIT_FUNC PyInit_doubling(void) { return PyModule_Create(&module); }
"""


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="needs a C compiler")
def test_extension_modules(tmp_path):
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        assert compile_module_from_src(SOURCE, "doubling").twice(21) == 42
        (file,) = tmp_path.rglob("doubling.so")
        file.unlink()  # it is in use
        file.write_bytes(b"no library")
        assert compile_module_from_src(SOURCE, "doubling").twice(4) == 8


def test_disassembly_is_read(monkeypatch):
    """Offsets of four digits and of more, of two functions."""
    text = b"""\tFunction : first
\t.headerflags\t@"EF_CUDA_SM90"
        /*fff0*/                   MOV R1, c[0x0][0x28] ;   /* 0x00000a0000017a02 */
                                                            /* 0x003fde0000000f00 */
        /*10000*/                  EXIT ;                   /* 0x000000000000794d */
\t\tFunction : second
        /*0000*/                   NOP;                     /* 0x0000000000007918 */
"""
    asked = []
    monkeypatch.setattr(disasm, "path_to_cuobjdump", lambda: "/there/cuobjdump")
    monkeypatch.setattr(disasm.subprocess, "check_output", lambda command: asked.append(command) or text)
    sass = disasm.extract("kernel.cubin", "first")
    assert sass == "Function:first\n\tMOV R1, c[0x0][0x28];\n\tEXIT;\nFunction:second\n\tNOP;\n"
    assert asked == [["/there/cuobjdump", "-sass", "-fun", "first", "kernel.cubin"]]
    assert "\tNOP;" in disasm.get_sass(b"")


def test_what_launches_tell_of_arguments():
    aligned, odd = torch.zeros(65)[:64], torch.zeros(65)[1:]
    told = [jit.specialize_impl(None, v, False, True, True) for v in (aligned, odd, 32, 3, 1, 2**40, True, 0.5, None)]
    assert told == [
        ("*fp32", "D"),
        ("*fp32", ""),
        ("i32", "D"),
        ("i32", ""),
        ("constexpr", 1),
        ("i64", "D"),
        ("u1", None),
        ("fp32", None),
        ("constexpr", None),
    ]
    assert jit.specialize_impl(None, (3, odd), True, False, False) == (("i32", "*kfp32"), (None, None))
    assert jit.mangle_type(torch.zeros(1, dtype=torch.bfloat16)) == "*bf16" and jit.mangle_type(2**63) == "u64"
    wrapped = tileon.TensorWrapper(torch.zeros(1, dtype=torch.int8), tl.uint8)
    assert jit.mangle_type(wrapped) == "*u8"
    with pytest.raises(TypeError, match="Unsupported type"):
        jit.specialize_impl(None, object(), False, True, True)


def test_names_of_upstreams_compiler_are_refused():
    from tilery.tileon._C import libtriton

    with pytest.raises(NotImplementedError, match="triton._C.libtriton.passes.add belongs to upstream's compiler"):
        libtriton.passes.add()
    with pytest.raises(NotImplementedError, match="only kernels are compiled"):
        tileon.compile("kernel.ttir")
    backend = tileon.backends.make_backend(tileon.runtime.driver.active.get_current_target())
    with pytest.raises(NotImplementedError, match="a back end's stages cannot be taken out"):
        backend.add_stages({}, None)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float16, torch.float32], ids=str)
def test_products_of_upstreams_extension_module(dtype):
    from tilery.tileon._C.libtriton import nvidia

    blas = nvidia.cublas.CublasLt(torch.empty(1024, dtype=torch.uint8))
    a, b = (torch.randint(-2, 3, shape).to(dtype) for shape in ((32, 48), (16, 48)))
    c = torch.zeros(32, 16).to(dtype)
    blas.matmul(a, b, c)
    exact = (a.double().cpu() @ b.double().cpu().T).to(c.device)
    assert torch.equal(c.float(), exact.to(dtype).float())
    with pytest.raises(ValueError, match=r"into \(M, N\), not \(32, 48\), \(48, 16\), \(32, 16\)"):
        blas.matmul(a, b.t(), c)
    if dtype.itemsize > 1:
        blas.gemm(a, b, c, c, 2.0, 1.0)
        assert torch.equal(c.double(), 3 * exact)
    with pytest.raises(ValueError, match="one float type, not"):
        blas.gemm(a, b, c, torch.zeros(32, 16, dtype=torch.int32), 1.0, 0.0)


def test_drivers_tell_of_devices():
    active = tileon.runtime.driver.active
    properties = active.utils.get_device_properties(active.get_current_device())
    assert properties["multiprocessor_count"] >= 1 and properties["max_shared_mem"] >= 1 << 15
    assert tileon.compiler.compiler.max_shared_mem(0) == properties["max_shared_mem"]
    assert active.map_python_to_cpp_type("i32") == "int32_t" and active.map_python_to_cpp_type("u8") == "uint8_t"
    assert active.get_device_interface() in (torch.cpu, torch.cuda)
