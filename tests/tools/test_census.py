"""./run census: who left the block level by a plan's words, and which reasons are decisions."""

import re

import census
import pytest

ROOT = census.ROOT / "compiler"
REFUSING = [*ROOT.glob("block/recognise/*.cpp"), ROOT / "targets/cuda/block/lower_to_blocks.cpp"]
# Of these: words of plans, of explanations, and for those who debug the compiler.
OTHER = {"the product is one of the kernel's", "argument ", "program ", "programs ", "no blocks, for "}
PARTS = {  # of reasons that are put together
    "the ": "the second operand is no box of a tensor in memory: ",
    "a stride of ": "a stride of 8 bytes is no multiple of 16",
    "it is computed by ": "it is computed by tile.sort, not element by element",
}
LLVM = "// ---- LLVM\n; not read: other: no blocks, for nothing\n"
KNOWN = [("", re.compile("it is small"))]


@pytest.mark.parametrize(
    "plan, ways",
    [
        ("k: blocks consumers=2\n  a: box of %0\n", {"k": None}),
        ("k: no blocks, for it is: small\nplan @k arena 0\n  %1 = tile.dot %a, %b: mma f16\n", {"k": "it is: small"}),
        ("plan @k arena 0\n  %1 = tile.contract rows < %2: mma f16\n", {"k": census.SILENT}),
        ("plan @k arena 0\n  nest 64\n    store\n", {}),
        ("k: no blocks, for it is small\nplan @k arena 0\n  nest 64\n", {}),
        ("plan @a arena 0\n  nest 64\nb: blocks k=64\nplan @c arena 0\n  %1 = tile.dot\n", {"b": None, "c": census.SILENT}),
    ],
)
def test_what_a_plan_says_of_products(plan, ways):
    assert census.ways(plan + LLVM, "stem") == ways


def test_modules_without_code_are_named():
    assert census.ways("// ---- error\nno such\ntarget\n", "stem") == {"stem": "there is no code: // ---- error no such target"}


def test_reasons_are_decisions_of_a_target_or_of_all():
    rows = ["reason | on | why", "---|---|---", "`it is small` | all | x", "`a factor ... is old` | sm_80 | y", "`z` | why | -"]
    page = "".join(f"| {row} |\n" for row in rows)
    known = census.decisions(page)
    assert [on for on, _ in known] == ["", "sm_80"]
    assert census.is_decided("it is small", "sm_90a", known) and census.is_decided("a factor of a (b) is old", "sm_80", known)
    wrong = [("a factor of it is old", "sm_90a"), ("it is smaller", "sm_80"), ("so it is small", "sm_80"), ("z", "why")]
    for reason, target in wrong:
        assert not census.is_decided(reason, target, known)


def test_the_page_has_decisions_and_silence_is_none():
    known = census.decisions(census.DECISIONS.read_text())
    assert len(known) > 5
    assert not any(census.is_decided(census.SILENT, target, known) for target in census.TARGETS.split(","))


def said(source):
    """The reasons in a source: literals of several words."""
    code = re.sub(r"//[^\n]*|#include[^\n]*", "", source)
    return {text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code) if re.match(r"[a-z0-9]\S* ", text)} - OTHER


def test_each_reason_in_the_sources_is_explained_on_the_page():
    page = census.DECISIONS.read_text()
    of_boxes = page.partition("#### What is no box")[2].partition("\n## ")[0]
    known = census.explained(page)
    known += [("", census._pattern(reason)) for reason in re.findall(r"`([^`]+)`", of_boxes)]
    reasons = {PARTS.get(text, text) for path in REFUSING for text in said(path.read_text())}
    assert "it carries tiles around its product" in reasons and len(reasons) > 80
    missing = [text for text in reasons if not census.is_decided(text, "sm_90a", known)]
    assert not missing, sorted(missing)


def test_a_reason_of_other_programs_is_explained_where_recorded_kernels_have_none():
    page = census.DECISIONS.read_text()
    reason = "its work on the result is not elementwise"
    assert census.is_decided(reason, "sm_80", census.explained(page))
    assert not census.is_decided(reason, "sm_80", census.decisions(page))
    assert not census.is_decided("its work is odd", "sm_80", census.explained(page))


def test_kernels_are_counted_by_target_and_reason(tmp_path, monkeypatch, capsys):
    for stem, text in {"a": "tile.dot", "b": "tile.contract", "c": "tile.dots"}.items():
        (tmp_path / f"{stem}.mlir").write_text(text)
    said = {"one": "blocks k=64", "two": "no blocks, for it is small"}

    def compile_all(tool, out, targets, files):
        return {(file.stem, target): f"{file.stem}: {said[target]}\n{LLVM}" for file in files for target in targets}

    monkeypatch.setattr(census.replay, "compile_all", compile_all)
    found = census.count("tool", [tmp_path], ["one", "two"], None, 2)
    assert [(kernel, target, why) for kernel, _, target, why in found] == [
        ("a", "one", None), ("a", "two", "it is small"), ("b", "one", None), ("b", "two", "it is small"),
    ]  # fmt: skip
    assert census.report(found, ["one", "two"], KNOWN)
    shown = capsys.readouterr().out
    assert "two    2  it is small\n" in shown and f"a ({tmp_path / 'a.mlir'})\n" in shown
    assert "one: 2 of 2 kernels" in shown and "two: 0 of 2 kernels" in shown
    assert not census.report(found, ["one", "two"], [])
    assert "two    2  no decision: it is small\n" in capsys.readouterr().out
