"""`tilery cache`."""

FILL = """
from tilery import _native
_native.cache_put("code", "a", b"x" * 5000)
_native.cache_put("manifest", "b", b"y")
"""


def test_info_and_clear(python, tmp_path):
    here = {"TILERY_CACHE_DIR": str(tmp_path / "cache"), "TILERY_CACHE_MB": "7"}
    assert python("-c", FILL, environment=here).returncode == 0
    (tmp_path / "cache" / "mine").write_text("somebody else's")
    done = python("-m", "tilery", "cache", "info", environment=here)
    assert done.returncode == 0 and str(tmp_path / "cache") in done.stdout
    assert "in 2 files, of at most 7.0 MiB" in done.stdout and "machine code" in done.stdout
    done = python("-m", "tilery", "cache", "clear", environment=here)
    assert done.returncode == 0 and done.stdout.startswith("2 files, 4.9 KiB, taken out of ")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["mine"]
    done = python("-m", "tilery", "cache", "info", environment=here)
    assert "0 bytes in 0 files" in done.stdout


def test_no_cache(python, tmp_path):
    for what in ("info", "clear"):
        done = python("-m", "tilery", "cache", what, environment={"TILERY_CACHE_DIR": ""})
        assert (done.returncode, done.stdout) == (0, "the disk cache is off: TILERY_CACHE_DIR is empty\n")
    done = python("-m", "tilery", "cache", "info", environment={"TILERY_CACHE_DIR": str(tmp_path / "none")})
    assert done.returncode == 0 and "0 files" in done.stdout and not (tmp_path / "none").exists()


def test_usage(python):
    for arguments in ((), ("empty",), ("info", "more")):
        done = python("-m", "tilery", "cache", *arguments)
        assert done.returncode == 2 and done.stderr.startswith("tilery cache: ")
