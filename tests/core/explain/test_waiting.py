"""Launches whose threads waited for processors: their spread is shown, and the quickest is what the machine is compared with."""

import pytest
import torch
from core.explain.faulty_kernels import add_kernel, matmul_kernel

from tilery.core import waiting


def test_the_threads_of_a_process_are_added_up(tmp_path):
    for thread, text in {"1": "100 50 7\n", "2": "20 5 1\n", "3": "", "4": "no number\n"}.items():
        (tmp_path / thread).mkdir()
        (tmp_path / thread / "schedstat").write_text(text)
    assert waiting.spent(f"{tmp_path}/*/schedstat") == (120, 55)
    assert waiting.spent(f"{tmp_path}/none/*") == (0, 0)


@pytest.mark.parametrize("after, share", [((130.0, 80.0), 0.7), ((160.0, 10.0), 0.0), ((100.0, 10.0), 0.0)])
def test_the_share_is_of_what_was_between(monkeypatch, after, share):
    times = iter([(100.0, 10.0), after])
    monkeypatch.setattr(waiting, "spent", lambda: next(times))
    with waiting.Waiting() as found:
        pass
    assert found.share == pytest.approx(share)


def test_a_disturbed_launch_is_judged_by_its_quickest():
    a, b, c = torch.rand(256, 256), torch.rand(256, 256), torch.empty(256, 256)
    report = matmul_kernel.explain(a, b, c, 256, 256, 256, BM=64, BN=64, BK=32, grid=(4, 4), seconds=0)
    (found,) = report.launches
    least = found.limits[0][1]
    found.kind.times[:] = [1.25 * least, 20 * least + 1, 21 * least + 1, 22 * least + 1, 30 * least + 1]
    found.kind.waited = 0.6
    assert found.reached == pytest.approx(0.8) and not found.is_far
    assert found.milliseconds == 21 * least + 1 and f"(middle half {20 * least + 1:.4f} .. {22 * least + 1:.4f})" in str(report)
    assert "for 60 % of that time its threads waited for processors that others had" in str(report)
    assert f"the quickest launch, {1.25 * least:.4f} ms, is compared" in str(report)
    found.kind.times[0] = 10 * least + 1
    assert found.without_findings == "what holds it back is not known: time it while no other program runs"
    found.kind.waited = 0.0
    assert found.reached == pytest.approx(least / found.milliseconds)
    assert found.without_findings == "what holds it back is not known" and "disturbed" not in str(report)


def test_threads_that_have_processors_are_not_disturbed(monkeypatch):
    monkeypatch.setattr(waiting, "spent", iter([(0.0, 0.0), (1e9, 1e7)]).__next__)
    x = torch.rand(4096)
    report = add_kernel.explain(x, x, torch.empty(4096), 4096, B=1024, grid=(4,), seconds=0)
    assert not report.launches[0].is_disturbed and "disturbed" not in str(report)
