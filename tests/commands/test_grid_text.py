"""Grids of kernels compiled ahead of time: expressions of arguments as C that computes what they say; all else is refused."""

import itertools
import re
import subprocess

import pytest
from c_programs import needs_compiler

from tilery.tileon.tools.grid import extents_of

GIVEN = {"n": "i32", "m": "i64", "k": "u64", "x": "*fp32", "scale": "fp32", "min": "i8"}
NUMBERS = [-7, -1, 0, 1, 2, 7, 1 << 31]
# In Python's words: those of C's quotients, which round towards 0.
EXPRESSIONS = {
    "n": lambda n, m: n,
    "(n + 1023) / 1024": lambda n, m: quotient(n + 1023, 1024),
    "n - m - 1": lambda n, m: n - m - 1,
    "n - (m - 1)": lambda n, m: n - (m - 1),
    "-n * - + 3": lambda n, m: n * 3,
    "n / 3 * 3": lambda n, m: quotient(n, 3) * 3,
    "n / -3": lambda n, m: quotient(n, -3),
    "n % 3": lambda n, m: n - 3 * quotient(n, 3),
    "(n - 1) // 4 + 1": lambda n, m: (n - 1) // 4 + 1,
    "n // -3": lambda n, m: n // -3,
    "cdiv(n, 0x10)": lambda n, m: -(-n // 16),
    "cdiv(n, -3)": lambda n, m: -(-n // -3),
    "max(n, 1)": lambda n, m: max(n, 1),
    "min ( n,m )": lambda n, m: min(n, m),
    "cdiv(max(n, m + 1), 2) * min(m, 3)": lambda n, m: -(-max(n, m + 1) // 2) * min(m, 3),
    "n * n": lambda n, m: n * n if abs(n) < 1 << 31 else None,
    "7 // 2 + 7 % 4 + cdiv(7, 2) - 8 / 3": lambda n, m: 3 + 3 + 4 - 2,
}


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@needs_compiler
def test_c_computes_what_is_written(tmp_path):
    rows = [",".join(extents_of(f"{text}, 1, 1", GIVEN, {})[:1]) for text in EXPRESSIONS]
    pairs = list(itertools.product(NUMBERS[:-1], NUMBERS))
    prints = "".join(f'printf("%lld\\n", (long long)({row}));' for row in rows)
    calls = "".join(f"all({n}, {m}LL);" for n, m in pairs)
    text = "#include <stdint.h>\n#include <stdio.h>\n"
    text += f"static void all(int32_t n, int64_t m) {{ (void)m; {prints} }}\nint main(void) {{ {calls} return 0; }}\n"
    (tmp_path / "grid.c").write_text(text)
    subprocess.run(["cc", "-Wall", "-Werror", "-fwrapv", "grid.c", "-o", "grid"], cwd=tmp_path, check=True)
    found = subprocess.run(["./grid"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert list(map(int, found)) == [each(n, m) for n, m in pairs for each in EXPRESSIONS.values()]


def test_names_of_functions_may_be_arguments():
    assert extents_of("min, max(min, 1), 2", GIVEN, {})[0] == "(int64_t)min"


WRONG = [
    ("n;system(0),1,1", 1, "`;` is not expected here"),
    ("system(0),1,1", 0, "it names `system`"),
    ("n n,1,1", 2, "`n` is not expected here"),
    ("n+,1,1", 2, "`,` is not expected here"),
    ('"x",1,1', 0, '`"` is not expected here'),
    ("1,1,1}", 5, "`}` is not expected here"),
    ("/*,1,1", 0, "`/` is not expected here"),
    ("n /* */,1,1", 3, "`*` is not expected here"),
    ("08,1,1", 0, "`08` begins with a zero"),
    ("n=3,1,1", 1, "`=` is not expected here"),
    ("n++,1,1", 3, "`,` is not expected here"),
    ("x,1,1", 0, "`x` is no integer, it is *fp32"),
    ("scale,1,1", 0, "`scale` is no integer, it is fp32"),
    ("1.5,1,1", 0, "`1.5` is not expected here"),
    ("1u,1,1", 0, "`1u` is not expected here"),
    ("n,1,", 4, "an expression is expected at its end"),
    ("", 0, "an expression is expected at its end"),
    ("n,,1", 2, "`,` is not expected here"),
    ("(n, 1, 1", 2, "`,` is not expected here"),
    ("1, 1, (n", 8, "a `)` is missing at its end"),
    ("1, 1, max(n", 11, "a `,` is missing at its end"),
    ("max(n), 1, 1", 5, "`)` is not expected here"),
    ("max(n, 1, 2), 1, 1", 8, "`,` is not expected here"),
    ("n / 0, 1, 1", 4, "there is no quotient by 0"),
    ("cdiv(n, 1 - 1), 1, 1", 8, "there is no quotient by 0"),
    ("1, 0 - 1, 1", 3, "an extent is -1"),
    ("1, 1, 4294967296", 6, "an extent is 4294967296"),
    ("9223372036854775808, 1, 1", 0, "does not fit into 64 bits"),
    ("9223372036854775807 * 2 - n, 1, 1", 22, "does not fit into 64 bits"),
    ("(" * 100 + "n" + ")" * 100 + ", 1, 1", 41, "it is too deeply nested"),
    ("max(n, " * 30 + "n" + ")" * 30 + ", 1, 1", None, "it is too long"),
    ("n\u00b2, 1, 1", 1, "is not expected here"),
    ("N, 1, 1", 0, "it names `N`, which is no argument of the C function\n"),
    ("n, m", None, "has 2 expressions; three are expected"),
    ("1,1,1,1", None, "has 4 expressions; three are expected"),
]


@pytest.mark.parametrize(("text", "at", "why"), WRONG)
def test_everything_else_is_one_error(text, at, why):
    with pytest.raises(ValueError, match=re.escape(why)) as wrong:
        extents_of(text, GIVEN, {"N": 64})
    if at is not None:
        assert f"\n    {text}\n    {' ' * at}^\n" in str(wrong.value)
