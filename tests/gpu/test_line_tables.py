"""Lines of the source in GPU code (TILERY_LINE_INFO): what loads, multiplies and stores is of the line that says so."""

import linecache
import re
from pathlib import Path

import pytest
import torch
from core.explain.faulty_kernels import add_kernel
from gpu.programs import LANGUAGES

from tilery import _native
from tilery.core.explain.found import find

DIRECTIVE = re.compile(r"\t\.loc\t(\d+) (\d+)")
USED = re.compile(r"\d+ bytes spill stores|Used \d+ registers")
FILE = re.compile(r'\t\.file\t(\d+) "([^"]*)"')

# What stands in the lines of the examples, by the beginning of instructions.
LINES = {
    "tileon": ("tl.load(", "tl.dot(", "tl.store("),
    "ninetoothed": ("dot(a[k], b[k])", "dot(a[k], b[k])", "c = "),
    "tilelang": ("T.copy(", "T.gemm(", "C["),
}
INSTRUCTIONS = "cp.async.bulk.tensor.2d.shared", "wgmma.mma_async", "cp.async.bulk.tensor.2d.global"


def lines_of(ptx, instruction):
    """The source's lines that the instructions are of."""
    files, here, found = dict(FILE.findall(ptx)), None, set()
    for text in ptx.splitlines():
        if directive := DIRECTIVE.match(text):
            here = files[directive[1]], int(directive[2])
        elif instruction in text:
            assert here, text
            found.add(linecache.getline(*here).strip())
    return found


def code(language):
    module = LANGUAGES[language](256, 512, 128, torch.float16, "cpu")[0]
    return _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm


@pytest.mark.parametrize("language", LINES)
def test_lines_of_a_product(language, monkeypatch, assemble):
    monkeypatch.setenv("TILERY_LINE_INFO", "1")
    ptx = code(language)
    for instruction, text in zip(INSTRUCTIONS, LINES[language]):
        lines = lines_of(ptx, instruction)
        assert lines and all(text in line for line in lines), (instruction, lines)
    assert all(Path(name).is_file() for _, name in FILE.findall(ptx))
    assert ".target sm_90a\n" in ptx  # not for debuggers, which would leave it unoptimised
    monkeypatch.setenv("TILERY_LINE_INFO", "0")
    without = code(language)
    assert ".loc" not in without and ".file" not in without
    with_lines, plain = assemble(ptx, "sm_90a", "-lineinfo"), assemble(without, "sm_90a")
    assert USED.findall(with_lines) == USED.findall(plain) != []


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_lines_of_elements(target, monkeypatch, assemble):
    monkeypatch.setenv("TILERY_LINE_INFO", "1")
    x = torch.empty(4096)
    ptx = find(lambda: add_kernel[(4,)](x, x.clone(), x.clone(), 4096, B=1024)).kernel.made(target).asm
    for instruction in ("ld.global", "st.global"):
        assert all("tl.load(" in line or "tl.store(" in line for line in lines_of(ptx, instruction))
    assemble(ptx, target, "-lineinfo")
