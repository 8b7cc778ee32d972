"""An AArch64 processor, emulated: the runner (runner.c) under qemu, which calls entries of bundles on memory of this process."""

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TILERY_BUILD_DIR", ROOT / "build")) / "aarch64"
HEADERS = Path("/usr/aarch64-linux-gnu")
QEMU = next(filter(None, map(shutil.which, ("qemu-aarch64", "qemu-aarch64-static"))), None)
TOOLS = [shutil.which("clang++-22"), shutil.which("ld.lld-22") or shutil.which("ld.lld"), shutil.which("ninja", path="/usr/bin")]
MISSING = "needs Debian's qemu-user and g++-aarch64-linux-gnu, clang-22, lld-22 and ninja"
IS_HERE = bool(QEMU and all(TOOLS) and (HEADERS / "lib" / "libc.so.6").exists())


def command():
    """What starts the runner, which is built with the runtime for AArch64: from nothing in a minute, else at once."""
    cmake = ["/usr/bin/cmake", "-S", ROOT, "-B", FOLDER, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS[-1]}"]
    options = [f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'aarch64.cmake'}", "-DTILERY_RUNTIME_ALONE=ON"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not (FOLDER / "build.ninja").exists():
            _run(*cmake, *options)
        _run(TOOLS[-1], "-C", FOLDER, "tilery-aarch64-runner")
    return [QEMU, "-L", str(HEADERS), str(FOLDER / "tilery-aarch64-runner")]


def _run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr


@dataclass(frozen=True)
class Tensor:
    """A tensor whose memory begins at `first` and has so many bytes: tensors of one memory have equal ones."""

    first: int
    bytes: int
    address: int  # of element 0
    extents: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()  # in elements


class Machine:
    """One process of the emulator, for calls one after the other."""

    def __init__(self):
        self.command = command()

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.bundle, self.calls = None, 0
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def call(self, bundle, arguments, grid=None, entry=0):
        """Calls an entry of a bundle's bytes. An argument is a Tensor or the bits of a number. Raises RuntimeError for what the
        runtime refuses."""
        fresh = b"" if bundle is self.bundle else bundle
        self.bundle = bundle
        self.calls += 1
        memories = list(dict.fromkeys((a.first, a.bytes) for a in arguments if isinstance(a, Tensor)))
        parts = [_words(len(fresh)), fresh, _words(entry, *(grid or (-1, -1, -1)), len(memories))]
        for first, count in memories:
            parts += [_words(first % 64, count), ctypes.string_at(first, count)]
        parts.append(_words(len(arguments)))
        for argument in arguments:
            if isinstance(argument, Tensor):
                number = memories.index((argument.first, argument.bytes))
                layout = (*argument.extents, *argument.strides)
                parts.append(_words(len(argument.extents), number, argument.address - argument.first, *layout))
            else:
                parts.append(_words(-1, argument))
        self.process.stdin.write(b"".join(parts))
        self.process.stdin.flush()
        message = self._read(struct.unpack("<Q", self._read(8))[0]).decode()
        for first, count in memories:
            ctypes.memmove(first, self._read(count), count)
        if message:
            raise RuntimeError(message)

    def _read(self, count):
        data = self.process.stdout.read(count)
        if len(data) < count:
            raise RuntimeError(f"the emulated process ended, status {self.process.wait(10)}")
        return data


def _words(*numbers):
    return b"".join((number & (1 << 64) - 1).to_bytes(8, "little") for number in numbers)
