"""Programs that test_fake_driver.py runs in processes of their own, the fake driver loaded under the real one's name.

usage: programs.py FAKE_DRIVER FAKE_PTX_COMPILER PROGRAM
"""

import contextlib
import ctypes
import gc
import linecache
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

fake = ctypes.CDLL(sys.argv[1])
compiler = ctypes.CDLL(sys.argv[2])
compiler.fake_options.restype = ctypes.c_char_p

from gpu.bare_tensor import Vector  # noqa: E402

import tilery.tileon as tileon  # noqa: E402
import tilery.tileon.language as tl  # noqa: E402
from tilery import _native, compat, errors  # noqa: E402
from tilery.core import compile  # noqa: E402
from tilery.core.explain.found import Found  # noqa: E402
from tilery.tileon.backends.compiler import GPUTarget  # noqa: E402
from tilery.tileon.backends.driver import CudaDriver  # noqa: E402
from tilery.tileon.compiler import ASTSource  # noqa: E402


class Launch(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_int) for name in ("device", "blocks", "threads", "shared")],
        ("stream", ctypes.c_void_p),
        *[(name, ctypes.c_int) for name in ("cluster", "programmatic", "cooperative")],
    ]


fake.fake_launch.restype = ctypes.POINTER(Launch)


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def add(device=0, programs=4, **options):
    x, y, out = (Vector(1 << 20 << i, 1024 * programs, device) for i in range(3))
    return add_kernel[(programs,)](x, y, out, 1024 * programs, BLOCK=1024, **options)


def calls(name):
    return fake.fake_calls(name.encode())


def fail(name, result):
    fake.fake_fail(name.encode(), result)


def refused(kind, *parts, run=add):
    """run() raises `kind`, whose message has these parts."""
    try:
        run()
    except errors.Error as error:
        assert isinstance(error, kind), type(error)
        missing = [part for part in parts if part not in str(error)]
        assert not missing, f"{missing} not in: {error}"
        return
    raise AssertionError("nothing was raised")


@contextlib.contextmanager
def said():
    """The lines that are written to stderr within this, also by C."""
    lines, before = [], os.dup(2)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(before, 2)
            os.close(before)
        file.seek(0)
        lines += file.read().splitlines()


def launches():
    assert _native.gpu_count() == 2 and _native.gpu_target(0) == "sm_90a:cuda13000"
    add()
    launch = fake.fake_launch().contents
    assert (launch.device, launch.blocks, launch.stream) == (0, 4, None) and launch.threads % 32 == 0
    add()
    assert calls("cuLaunchKernel") == 2 and calls("cuModuleLoadDataEx") == 1


def dependent_launches():
    """Those that may begin beside the launch before say so to the driver."""
    for asked in (True, False, True, None):
        add(launch_pdl=asked)
        assert fake.fake_launch().contents.programmatic == bool(asked)
    assert (calls("cuLaunchKernelEx"), calls("cuLaunchKernel")) == (2, 2)
    add(launch_pdl=True, device=1)
    assert fake.fake_launch().contents.programmatic == 1


def cooperative_grids():
    """Programs that may wait for each other run at once, each on a block of its own."""
    add(launch_cooperative_grid=True, programs=264)
    launch = fake.fake_launch().contents
    assert (launch.blocks, launch.cooperative) == (264, 1)
    refused(ValueError, "265 programs, of which 264 run at once", run=lambda: add(launch_cooperative_grid=True, programs=265))
    add(programs=265)
    assert fake.fake_launch().contents.cooperative == 0


def devices():
    """Another device's launch leaves the thread where it was."""
    fake.fake_enter(0)
    add(device=1)
    assert fake.fake_launch().contents.device == 1 and fake.fake_current() == 0
    add(device=0)
    assert fake.fake_launch().contents.device == 0 and fake.fake_current() == 0
    refused(ValueError, "there is no GPU number 2", run=lambda: add(device=2))


def properties():
    """What programs ask of the driver needs no torch that sees the device."""
    from tilery.tilelang.carver.arch import driver as carver_driver  # starts the driver

    found = _native.gpu_properties(1)
    assert (found["name"], found["capability"], found["multiprocessors"]) == ("Fake GPU", (9, 0), 132), found
    assert (found["shared_bytes"], found["registers"], found["clock_khz"]) == (232448, 0, 0), found
    refused(ValueError, "there is no GPU number 2", run=lambda: _native.gpu_properties(2))
    driver = CudaDriver()
    assert driver.utils.get_device_properties(1)["multiprocessor_count"] == 132 == carver_driver.get_num_sms()
    assert driver.get_device_capability() == (9, 0) and carver_driver.get_device_name() == "Fake GPU"
    assert carver_driver.get_max_dynamic_shared_size_bytes(format="kb") == 227


def nothing_waits():
    """What a stream capture forbids is not called by a launch, and loading is told to bear a capture."""
    add()
    assert calls("cuThreadExchangeStreamCaptureMode") == 2
    assert not any(map(calls, ("cuStreamSynchronize", "cuMemAlloc_v2", "cuMemcpyDtoHAsync_v2")))


def unloading():
    """Nor is unloading forbidden then: kernels are let go whenever Python collects them."""

    @tileon.jit
    def short_lived(x_ptr):
        tl.store(x_ptr, 1.0)

    short_lived[(1,)](Vector(1 << 20, 64, 0))
    before = calls("cuThreadExchangeStreamCaptureMode")
    del short_lived
    gc.collect()
    assert calls("cuModuleUnload") == 1
    assert calls("cuThreadExchangeStreamCaptureMode") == before + 2


def matmul(out=None, depth=256):
    """Launches a matrix product by Hopper's instructions; how many tensors were described until then."""
    example = compat.load(Path(__file__).parents[3] / "examples" / "tileon" / "matmul.py")
    a, b, c = (Vector(1 << 20 << i, 256 * 256, bits=16) for i in range(3))
    strides = (256, 1) * 3
    example.matmul_kernel[(2,)](a, b, out or c, 256, 256, depth, *strides, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64)
    return calls("cuTensorMapEncodeTiled")


def tensor_maps():
    """A tensor is described once for launches on the same tensors."""
    other = Vector(1 << 30, 256 * 256, bits=16)
    described = matmul()
    assert described in (2, 3)  # the result may be stored without one
    assert matmul() == described
    assert matmul(other) == 2 * described - 2
    assert matmul() == 2 * described - 2


def empty_operands():
    """The copy engine knows no empty tensor: such a launch gets code without boxes, compiled once (0 makes a program)."""
    described = matmul(depth=100)
    boxes = fake.fake_launch().contents.shared
    assert compiler.fake_compiled() == 1
    for _ in range(2):
        assert matmul(depth=0) == described
        assert fake.fake_launch().contents.shared != boxes and compiler.fake_compiled() == 3
    assert matmul(depth=100) == described
    assert fake.fake_launch().contents.shared == boxes and calls("cuLaunchKernel") == 4


def illegal_address():
    add()
    fail("cuLaunchKernel", 700)
    refused(errors.GpuAddressError, "launching add_kernel, grid 4x1x1 in 4 blocks of ", "CUDA_ERROR_700", "LAUNCH_BLOCKING")
    refused(RuntimeError)


def out_of_memory():
    fail("cuModuleLoadDataEx", 2)
    refused(errors.GpuMemoryError, "loading add_kernel failed", "free memory of the GPU")
    refused(MemoryError)
    fail("cuModuleLoadDataEx", 0)
    add()


def unsupported():
    fail("cuModuleLoadDataEx", 209)
    refused(errors.GpuUnsupportedError, "loading add_kernel failed", "update it")


def old_gpu():
    fake.fake_device(75, 65536, 1024)
    refused(errors.GpuUnsupportedError, "the Fake GPU has compute capability 7.5; GPU code needs 8.0")
    refused(NotImplementedError)


def new_gpu(shared=232448, sm=100, target="sm_80"):
    """What is unknown of a GPU is left alone: it runs the code of older ones, and one line says so."""
    fake.fake_device(sm, shared, 1024)
    with said() as lines:
        assert _native.gpu_target(0) == f"{target}:cuda13000" == _native.gpu_target(1)
        add()
    assert lines == [
        f"tilery: the Fake GPU has compute capability {sm // 10}.{sm % 10}: its kernels are compiled as for 8.0, without what is "
        "new since"
    ]
    assert fake.fake_launch().contents.blocks == 4
    assert compiler.fake_options().decode().startswith(f"--gpu-name=sm_{sm}a")


def small_new_gpu():
    new_gpu(101376, 120, "sm_86")


def too_many_threads():
    fake.fake_device(90, 232448, 64)
    refused(ValueError, "add_kernel needs ", "threads of 168 registers, of which the device has room for 64", "fewer warps")


def too_much_shared_memory():
    fake.fake_device(90, 65536, 1024)
    refused(ValueError, "matmul_kernel needs ", "bytes of shared memory, the device has 65536", "fewer stages", run=matmul)


SERIALISED = b"ptxas warning : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized"


def assembles():
    """The driver's PTX compiler is asked once, for the GPU's own architecture, and the driver gets machine code."""
    add()
    add()
    assert compiler.fake_compiled() == 1 and compiler.fake_open() == 0
    assert compiler.fake_options() == b"--gpu-name=sm_90a -v"
    assert calls("cuModuleLoadDataEx") == 1 and calls("assembling in the driver") == 0


def assembles_with_lines():
    """The switch asks for tables; code without them is kept apart."""
    without = _native.target_id("sm_90a")
    os.environ["TILERY_LINE_INFO"] = "1"
    add()
    assert compiler.fake_options() == b"--gpu-name=sm_90a -v --generate-line-info"
    assert _native.target_id("sm_90a") == without + ";lines"


def assembles_in_the_driver():
    """What the compiler refuses, a version of PTX for one, the driver may still take."""
    compiler.fake_refuse(7, b"")
    add()
    assert compiler.fake_open() == 0 and calls("assembling in the driver") == 1 and calls("cuLaunchKernel") == 1


def wrong_code():
    """Where the driver refuses, too, one error has its words."""
    compiler.fake_refuse(3, b"line 1; parse error")
    fail("cuModuleLoadDataEx", 218)
    refused(RuntimeError, "the driver refuses the GPU code: line 1; fake error", "defect of Tilery's code generator")


def spills():
    """What the assembler says of registers is kept with the code."""
    compiler.fake_info(
        b"ptxas info    : Function properties for add_kernel\n"
        b"    8 bytes stack frame, 28 bytes spill stores, 30 bytes spill loads\n"
    )
    image = _native.compile(add().module, target="sm_90a").image
    (kernel,) = _native.load(_native.assembled(image, 0))
    assert kernel.spill_bytes == 58


def spills_are_explained():
    compiler.fake_info(
        b"ptxas info    : Function properties for add_kernel\n"
        b"    8 bytes stack frame, 28 bytes spill stores, 30 bytes spill loads\n"
    )
    kernels = []
    _native.ask_launches(lambda make, kind, values, _: kernels.append(compile.asked(lambda: make(kind, values))), add)
    (finding,) = Found(kernels[0]).findings
    assert finding.fault == "spill" and "58 bytes" in finding.message
    assert linecache.getline(finding.chain[0].file, finding.chain[0].line).startswith("def add_kernel")
    assert calls("cuLaunchKernel") == 0


def serialised_runs():
    """What the assembler serialised is right."""
    compiler.fake_info(SERIALISED)
    os.environ["TILERY_VERIFY"] = "0"
    add()
    assert calls("cuLaunchKernel") == 1


def serialised_once():
    """Where the assembler takes the program whose products run in turn, that is what runs."""
    compiler.fake_info_once(SERIALISED)
    os.environ["TILERY_VERIFY"] = "1"
    add()
    assert compiler.fake_compiled() == 2 and calls("cuLaunchKernel") == 1


def serialised():
    compiler.fake_info(SERIALISED)
    os.environ["TILERY_VERIFY"] = "1"
    refused(RuntimeError, "C7510", "defect of Tilery's code generator")


def serialised_in_the_driver():
    compiler.fake_refuse(7, b"")
    fake.fake_log(SERIALISED)
    os.environ["TILERY_VERIFY"] = "1"
    refused(RuntimeError, "C7510", "defect of Tilery's code generator")


def in_a_fork(run):
    """Runs it in a forked process; the line that it ends with is this one's."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            run()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def _use_gpu_of_parent():
    assert _native.gpu_count() == 2 and _native.gpu_target(1) == "sm_90a:cuda13000"
    assert CudaDriver.is_active()
    compiled = tileon.compile(SOURCE, GPUTarget("cuda", 90, 32))
    assert ".entry add_kernel" in compiled.asm["ptx"] and compiled.hash
    assert _native.assembled(_native.compile(compiled.module, target="sm_90a").image, 0).object[:4] == b"\x7fELF"
    refused(RuntimeError, "forked from one that had started the NVIDIA driver", '"spawn"')
    refused(RuntimeError, "forked from one that had started the NVIDIA driver", run=lambda: add(device=1))
    gc.collect()


TYPES = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
SOURCE = ASTSource(add_kernel, TYPES, {"BLOCK": 64})


def forked():
    """Processes that are forked after the driver was started compile as before, and say what they cannot do."""
    add()
    in_a_fork(_use_gpu_of_parent)
    in_a_fork(lambda: in_a_fork(_use_gpu_of_parent))
    add()


def forked_by_who_started_the_driver():
    """So do those of a program that was the first to start it."""
    fake.cuInit(0)
    in_a_fork(_use_gpu_of_parent)


def forked_before():
    """Who starts the driver itself uses it."""
    in_a_fork(launches)
    launches()


def too_old():
    assert _native.gpu_count() == 0
    refused(RuntimeError, "driver of this machine is too old: it has no cuTensorMapEncodeTiled", "CUDA 12.0", "update the driver")


def no_ptx_compiler():
    compiler.fake_refuse(3, b"")
    fail("cuModuleLoadDataEx", 221)
    refused(errors.GpuUnsupportedError, "loading add_kernel failed", "install the driver's PTX compiler")


def no_start():
    fail("cuInit", 100)
    assert _native.gpu_count() == 0
    refused(RuntimeError, "the NVIDIA driver does not start: CUDA_ERROR_100", "run on tensors of the CPU")


if __name__ == "__main__":
    globals()[sys.argv[3]]()
