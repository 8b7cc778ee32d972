"""./run replay: what counts as equal code, and that nothing else does. The compilers here are scripts."""

import stat
import sys

import pytest
import replay

LLVM = """; ModuleID = 'tilery'
source_filename = "tilery"
@anon.1 = private constant [2 x i8] c"ab"

define void @kernel(ptr %0, i64 %n) #0 !dbg !3 {
entry:
  %x.1 = load float, ptr %0, align 4, !dbg !7, !alias.scope !8
  %sum = fadd contract float %x.1, %x.1, !dbg !9
  br i1 true, label %exit, label %"the end"
"the end":                                        ; preds = %entry
  call void @helper.3(ptr @anon.1)
  %y = call double @other(double 0.0)
  ret void
exit:
  ret void
}
declare void @helper.3(ptr) #1
declare double @other(double) #1
declare void @unused(ptr)
attributes #0 = { nounwind "target-cpu"="znver4" }
attributes #1 = { nounwind }
!3 = !{}
"""
# The same with other names, numbers, metadata and positions.
RENAMED = """; ModuleID = 'other'
source_filename = "elsewhere"
@strings.7 = private constant [2 x i8] c"ab"
define void @kernel(ptr %a, i64 %1) #2 {
start:
  %2 = load float, ptr %a, align 4, !alias.scope !1
  %"a sum" = fadd contract float %2, %2
  br i1 true, label %out, label %7
7:
  call void @helper(ptr @strings.7)
  %3 = call double @other(double 0.0)
  ret void
out:
  ret void
}
declare double @other(double) #1
declare void @helper(ptr) #1
attributes #1 = { nounwind }
attributes #2 = { nounwind "target-cpu"="znver4" }
"""
PTX = """// ---- PTX
.visible .entry kernel(.param .u64 kernel_param_0)
{
	.reg .b32 	%r<4>;
	.loc	1 2 3
	ld.global.b32 	%r1, [%rd2];  // a comment
	@%p1 bra 	$L__BB0_2;
$L__BB0_2:
	ret;
}
"""


def test_names_numbers_and_metadata_do_not_count():
    assert replay.normal(LLVM) == replay.normal(RENAMED)
    renamed = PTX.replace("%r1", "%r3").replace("<4>", "<9>").replace("BB0_2", "BB0_7").replace("1 2 3", "2 2 2")
    assert replay.normal(LLVM + PTX) == replay.normal(RENAMED + renamed)
    assert replay.normal("kernel: blocks\n" + replay.LLVM + LLVM + PTX) == replay.normal(LLVM + PTX)  # the plan


@pytest.mark.parametrize(
    "was, becomes",
    [
        ("fadd contract", "fadd"),
        ("align 4", "align 8"),
        ("znver4", "znver3"),
        (', !alias.scope !8', ""),
        ("%x.1, %x.1", "%x.1, %n"),
        ("label %exit, label", 'label %"the end", label'),
        ('c"ab"', 'c"ac"'),
        ("@helper", "@helpers"),
        ("declare double", "declare float"),
        ("#1 = { nounwind }", "#1 = { memory(none) }"),
        ("@kernel", "@kernel2"),
        ("ld.global", "ld.volatile.global"),
        ("[%rd2]", "[%rd2+4]"),
        ("%r1,", "%rs1,"),
        ("bra 	$L__BB0_2", "bra 	$L__BB0_1"),
    ],
)
def test_everything_else_counts(was, becomes):
    text = LLVM + PTX
    assert was in text
    assert replay.normal(text) != replay.normal(text.replace(was, becomes, 1))


def compiler(path, body):
    """A tilery-replay in Python, whose body gives `text` for (stem, target)."""
    path.write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys\n"
        f"LLVM = {replay.LLVM!r}\n"
        "out, targets, *files = sys.argv[1:]\n"
        "for file in files:\n"
        "    for target in targets.split(','):\n"
        "        stem = pathlib.Path(file).stem\n"
        f"        {body}\n"
        "        pathlib.Path(out, f'{stem}.{target}.txt').write_text(text)\n"
        "        print(f'{stem}.{target}', flush=True)\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return path


@pytest.fixture
def corpus(tmp_path):
    files = [tmp_path / f"{name}.mlir" for name in ("a", "b", "c")]
    for file in files:
        file.write_text("")
    return files


def test_differences_are_counted_shown_and_kept(tmp_path, corpus, capsys):
    base = compiler(tmp_path / "base", "text = LLVM + 'define void @f() {\\n  %x = add i32 1, 2\\n'")
    op = "('sub' if (stem, target) == ('b', 'two') else 'add')"
    here = compiler(tmp_path / "here", f"text = LLVM + 'define void @f() {{\\n  %y = ' + {op} + ' i32 1, 2\\n'")
    results = replay.replay(base, here, ["one", "two"], corpus, 2)
    assert not replay.report(results, ["one", "two"], tmp_path, tmp_path / "different", 1)
    shown = capsys.readouterr().out
    assert "one                    3       3          0                0\n" in shown
    assert "two                    3       2          1                0\n" in shown
    assert "-  %v0 = add i32 1, 2" in shown and "+  %v0 = sub i32 1, 2" in shown
    assert (tmp_path / "different" / "here" / "b.two.txt").read_text().endswith("sub i32 1, 2\n")
    assert replay.report(replay.replay(base, base, ["one"], corpus, 1), ["one"], tmp_path, tmp_path / "different", 1)


def test_what_neither_side_makes_code_of_is_not_equal(tmp_path, corpus, capsys):
    refuses = "text = '// ---- error: no such op' if stem == 'a' else LLVM + 'x'"
    base = compiler(tmp_path / "base", refuses)
    here = compiler(tmp_path / "here", refuses.replace("no such", "not this") + " if stem != 'c' else '// ---- error'")
    results = replay.replay(base, here, ["one"], corpus, 1)
    assert results["a", "one"] == replay.REFUSED and results["b", "one"] is None and results["c", "one"]
    assert not replay.report(results, ["one"], tmp_path, tmp_path / "different", 0)
    assert "one                    3       1          1                1\n" in capsys.readouterr().out


def test_a_crash_is_a_difference_of_its_module_alone(tmp_path, corpus):
    sound = compiler(tmp_path / "sound", "text = LLVM + 'x'")
    crashes = compiler(tmp_path / "crashes", "text = LLVM + 'x' if (stem, target) != ('a', 'two') else os._exit(3)")
    results = replay.replay(sound, crashes, ["one", "two"], corpus, 1)
    assert {key for key, pair in results.items() if pair} == {("a", "two")}


def test_an_order_that_changes_from_run_to_run_is_no_difference(tmp_path, corpus):
    count = tmp_path / "count"
    count.write_text("")
    changing = compiler(
        tmp_path / "changing",
        f"count = open({str(count)!r}, 'a+'); count.write('.'); text = LLVM + 'xy'[count.tell() % 2]",
    )
    same = compiler(tmp_path / "same", "text = LLVM + 'y'")
    assert not any(replay.replay(same, changing, ["one"], corpus, 1).values())
