"""torch.compile with our Triton: generated kernels agree with eager. The programs are in inductor.py."""

import os
from pathlib import Path

import pytest
from processes import ROOTS

PROGRAM = Path(__file__).with_name("inductor.py")
EMULATED = Path(os.environ["TILERY_BUILD_DIR"]) / "tests" / "emulator" / "gpu"


@pytest.fixture
def inductor(python, tmp_path):
    """Runs groups of inductor.py with caches of their own and gives what they print."""

    def run(*groups, workers=1, gpu=None):
        environment = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": str(workers)}
        if gpu:
            environment |= {"TILERY_EMULATE": gpu, "PYTHONPATH": os.pathsep.join([str(EMULATED), *ROOTS])}
        done = python("-m", "tilery", "run", str(PROGRAM), "cpu", *groups, files={}, environment=environment.items())
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr and "previously registered" not in done.stderr, done.stderr
        return done.stdout.split()

    return run


def test_kernels_and_models(inductor):
    """In one process: most of what each would take is importing Inductor."""
    groups = ["kinds", "shapes", "kernels", "block", "recurrence"]
    assert inductor(*groups) == groups


@pytest.mark.long
def test_convolutions(inductor):
    assert inductor("convolutions") == ["convolutions"]


@pytest.mark.long
def test_templates_of_products(inductor):
    assert inductor("templates")[-1] == "templates"  # behind what Inductor prints of its choice


@pytest.mark.long
def test_generated_kernels_are_code_for_gpus(inductor):
    assert inductor("assembled", "kinds", "perceptron") == ["assembled", "kinds", "perceptron"]


@pytest.mark.skipif(not (EMULATED / "tilery").is_dir(), reason="needs the emulated GPU, which ./run test builds")
@pytest.mark.parametrize("gpu", ["sm_90a,races", pytest.param("sm_80,races", marks=pytest.mark.long)])
def test_on_an_emulated_gpu(inductor, gpu):
    """Convolutions: what their gradients are gathered by once was read where nobody had stored it."""
    assert inductor("emulated", "convolutions", gpu=gpu) == ["emulated", "convolutions"]


@pytest.mark.long
def test_workers_compile_and_caches_remember(inductor):
    """The first process compiles in workers, which send kernels pickled; the second finds both graphs."""
    assert inductor("caches", workers=2) == ["0", "2", "caches"]
    assert inductor("caches") == ["2", "0", "caches"]
