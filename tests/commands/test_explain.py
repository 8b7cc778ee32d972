"""`tilery explain`: each kind of launch once, with its fault at its line; the page is whole and asks nobody for anything."""

from html.parser import HTMLParser

PROGRAM = """
import torch, triton
import triton.language as tl
import ninetoothed
from ninetoothed import Tensor
import tilelang
import tilelang.language as T

@triton.jit
def third(x, y, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i * 3))

@ninetoothed.jit
def double(x: Tensor(1).tile((16,)), y: Tensor(1).tile((16,))):
    y = x * 2

@tilelang.jit(out_idx=[1])
def maker(n):
    @T.prim_func
    def triple(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(n):
                y[i] = x[i] * 3
    return triple

x, y = torch.arange(192.), torch.empty(64)
for _ in range(3):
    third[(2,)](x, y, N=32)
z = torch.empty(64)
double(y, z)
w = maker(64)(z)
print(w[:3].tolist())
"""
_EMPTY = {"meta", "rect", "circle", "polyline", "br"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href") or (value or "").startswith("http")]
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in _EMPTY or self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def page_of(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_a_program(python, tmp_path):
    done = python("-m", "tilery", "explain", "--seconds", "0", "--html", "page.html", "program.py", files={"program.py": PROGRAM})
    assert done.returncode == 0, done.stderr
    *sections, printed = done.stdout.split("\n\n")
    assert printed == "[0.0, 18.0, 36.0]\n", done.stdout  # what the program computes is what it was
    assert [part.splitlines()[0].split(":")[0] for part in sections] == ["third", "double", "maker.triple"]
    assert "program.py:12:21: gather: elements are read one by one: neighbours lie 3 elements apart" in sections[0]
    assert "x 768 B" not in sections[0] and "memory      512 B at least (x 256 B, y 256 B)" in sections[0]
    assert all("nothing is known to hold it back" in section for section in sections[1:])
    page = page_of((tmp_path / "page.html").read_text())
    assert page.seen.count("section") == 3 and page.seen.count("svg") >= 3
    assert [link for link in page.links if link != "http://www.w3.org/2000/svg"] == []
    assert "script" not in page.seen and "gather" in page.texts


def test_a_program_without_launches(python):
    done = python("-m", "tilery", "explain", "-c", "print(1)")
    told = "tilery explain: the program launched no kernel in its main thread"
    assert done.returncode == 0 and done.stdout.splitlines() == ["1", told]


def test_the_interpreter_has_no_machine_code(python):
    done = python("-m", "tilery", "explain", "-c", "print(1)", environment={"TILERY_ORACLE": "1"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tilery explain: TILERY_ORACLE is set") and done.stderr.endswith("hint: unset TILERY_ORACLE\n")


def test_its_exit_status_is_the_programs(python):
    assert python("-m", "tilery", "explain", "-c", "import sys; sys.exit(5)").returncode == 5
    wrong = python("-m", "tilery", "explain", "--seconds", "-1", "-c", "pass")
    assert wrong.returncode == 2 and "a number that is not negative" in wrong.stderr


def test_a_page_that_cannot_be_written(python):
    done = python("-m", "tilery", "explain", "--html", "nowhere/page.html", "-c", "print(1)")
    assert done.returncode == 2 and "a file in a folder that can be written is expected" in done.stderr and done.stdout == ""


PRINTS_AND_FAILS = """
import numpy as np
from tilery import tileon
from tilery.tileon import language as tl

@tileon.jit
def shows(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.device_print("v", v)
    tl.store(o + i, v)

x, o = np.ones(2, np.float32), np.zeros(2, np.float32)
shows[(1,)](x, o, 2)
try:
    shows[(1,)](x, o, -1)
except Exception:
    print("refused")
"""


def test_a_kernel_that_prints_is_launched_once_and_one_that_fails_is_no_launch(python):
    done = python("-m", "tilery", "explain", "program.py", files={"program.py": PRINTS_AND_FAILS})
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("v:") == 1 and "not repeated: the kernel prints" in done.stdout
    assert "refused" in done.stdout and done.stdout.count("shows:") == 1


CRASHES = """
import os
import numpy as np
from tilery import tileon
from tilery.tileon import language as tl

@tileon.jit
def double(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)

double[(1,)](np.ones(16, np.float32), 16)
os.abort()
"""


def test_what_is_known_outlives_a_crash(python):
    done = python("-m", "tilery", "explain", "--seconds", "0", "-c", CRASHES)
    assert done.returncode != 0 and done.stdout.startswith("double: 1 programs") and "plan" in done.stdout, done.stderr
