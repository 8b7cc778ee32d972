"""Programs by their kind, and configurations of them in the order that a model of time gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ....errors import error
from ...tracing.dtypes import dtype
from ..arch import CUDA, TileDevice, auto_infer_current_arch
from ..roller.hint import Hint
from ..roller.rasterization import NoRasterization, Rasterization2DColumn

__all__ = ["BaseTemplate", "ElementwiseTemplate", "GEMVTemplate", "GeneralReductionTemplate", "MatmulTemplate"]


def _bytes(element: Any) -> float:
    return dtype(element).bits / 8


class BaseTemplate:
    """`.with_arch(arch).recommend_hints(topk)`: the fastest configurations by the model, best first."""

    def __init__(self) -> None:
        self._arch: TileDevice | None = None

    @property
    def arch(self) -> TileDevice:
        self._arch = self._arch or auto_infer_current_arch()
        return self._arch

    def with_arch(self, arch: TileDevice) -> Any:
        self._arch = arch
        return self

    def candidates(self) -> Iterator[Hint]:
        raise NotImplementedError

    def recommend_hints(self, topk: int = 10) -> list[Hint]:
        """Ties go to the configuration that comes first."""
        found = sorted(self.candidates(), key=lambda hint: hint.seconds)
        return found[:topk]

    def get_hardware_aware_configs(self, arch: TileDevice | None = None, topk: int = 10) -> list[Hint]:
        return (self.with_arch(arch) if arch else self).recommend_hints(topk)


class MatmulTemplate(BaseTemplate):
    """C[M, N] = A[M, K] @ B; `trans_A`, `trans_B`: the operand lies the other way round."""

    def __init__(
        self,
        M: int,
        N: int,
        K: int,
        trans_A: bool = False,
        trans_B: bool = True,
        in_dtype: Any = "float16",
        out_dtype: Any = "float16",
        accum_dtype: Any = "float16",
        with_bias: bool = False,
    ) -> None:
        super().__init__()
        if not all(isinstance(size, int) and size > 0 for size in (M, N, K)):
            raise error(ValueError, f"MatmulTemplate takes positive sizes, got {(M, N, K)}")
        self.M, self.N, self.K, self.trans_A, self.trans_B = M, N, K, trans_A, trans_B
        self.in_dtype, self.out_dtype, self.accum_dtype, self.with_bias = in_dtype, out_dtype, accum_dtype, with_bias

    def equivalent_function(self) -> Any:
        """A prim_func that computes it, in tiles of the first hint."""
        from ... import language as T

        bm, bn = self.recommend_hints(1)[0].block
        bk, (m, n, k) = self.recommend_hints(1)[0].rstep[0], (self.M, self.N, self.K)
        ta, tb, kind, out, acc = self.trans_A, self.trans_B, self.in_dtype, self.out_dtype, self.accum_dtype

        @T.prim_func
        def main(
            A: T.Tensor((k, m) if ta else (m, k), kind),  # type: ignore[valid-type]
            B: T.Tensor((n, k) if tb else (k, n), kind),  # type: ignore[valid-type]
            C: T.Tensor((m, n), out),  # type: ignore[valid-type]
        ) -> None:
            with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm)) as (bx, by):
                A_s = T.alloc_shared((bk, bm) if ta else (bm, bk), kind)
                B_s = T.alloc_shared((bn, bk) if tb else (bk, bn), kind)
                tile = T.alloc_fragment((bm, bn), acc)
                T.clear(tile)
                for ko in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                    if ta:
                        T.copy(A[ko * bk, by * bm], A_s)
                    else:
                        T.copy(A[by * bm, ko * bk], A_s)
                    if tb:
                        T.copy(B[bx * bn, ko * bk], B_s)
                    else:
                        T.copy(B[ko * bk, bx * bn], B_s)
                    T.gemm(A_s, B_s, tile, transpose_A=ta, transpose_B=tb)
                T.copy(tile, C[by * bm, bx * bn])

        return main

    def candidates(self) -> Iterator[Hint]:
        arch, width = self.arch, _bytes(self.in_dtype)
        for bm, bn, bk in itertools.product((16, 32, 64, 128, 256), (16, 32, 64, 128, 256), (32, 64, 128)):
            if bm * bn > 256 * 128 or (bm > 16 and bm >= 2 * self.M) or (bn > 16 and bn >= 2 * self.N):
                continue
            stage = (bm + bn) * bk * width
            stages = min(4, int(arch.smem_cap // stage), max(1, math.ceil(self.K / bk)))
            if stages < 1:
                continue
            tiles = math.ceil(self.M / bm) * math.ceil(self.N / bn)
            waves = math.ceil(tiles / arch.compute_max_core)
            depth = math.ceil(self.K / bk) * bk
            filled = min(1.0, bm * bn / (128 * 128)) ** 0.5 * (1.0 if stages > 1 else 0.5) * (1.0 if bk * width >= 64 else 0.8)
            compute = waves * arch.compute_max_core * bm * bn * depth * 2 / (arch.tflops * 1e12 * filled)
            moved = tiles * (bm + bn) * depth * width / (arch.bandwidth[1] * 1e9)
            warps = max(1, min(8, bm * bn // (64 * 32)))
            rows = max(w for w in (1, 2, 4, 8) if w <= warps and bm // w >= 16)
            columns = max(1, min(warps // rows, bn // 8))
            yield Hint(
                arch,
                isinstance(arch, CUDA),
                [bm, bn],
                warp=[bm // rows, bn // columns],
                rstep=[bk],
                pipeline_stage=stages,
                use_async=stages > 1,
                rasterization_plan=Rasterization2DColumn(4) if tiles > 4 * arch.compute_max_core else NoRasterization(),
                seconds=max(compute, moved),
            )


class _Rows(BaseTemplate):
    """Programs that memory bounds: rows of `width` numbers, reduced or not."""

    def __init__(self, rows: int, width: int, element: Any, reduces: bool) -> None:
        super().__init__()
        self.rows, self.width, self.element, self.reduces = rows, width, element, reduces

    def candidates(self) -> Iterator[Hint]:
        arch, size = self.arch, _bytes(self.element)
        for rows, columns in itertools.product((1, 2, 4, 8, 16, 32), (64, 128, 256, 512, 1024)):
            if rows * columns * size > arch.smem_cap or (rows > 1 and rows >= 2 * self.rows) or columns >= 2 * self.width > 128:
                continue
            blocks = math.ceil(self.rows / rows) * (1 if self.reduces else math.ceil(self.width / columns))
            waves = math.ceil(blocks / (arch.compute_max_core * 4)) * arch.compute_max_core * 4
            each = rows * (math.ceil(self.width / columns) * columns if self.reduces else columns)
            seconds = waves * each * size / (arch.bandwidth[0] * 1e9) * (1 + 64 / (rows * columns))
            threads = max(32, min(256, rows * columns // 8))
            block = [rows] if self.reduces else [rows, columns]
            lanes = min(threads, columns // 4 or 1)
            yield Hint(
                arch,
                block=block,
                thread=[threads // lanes] if self.reduces else [max(1, threads // lanes), lanes],
                rstep=[columns] if self.reduces else [],
                reduce_thread=[lanes] if self.reduces else [],
                seconds=seconds,
            )


class ElementwiseTemplate(_Rows):
    """One number out for each number in."""

    def __init__(self, shape: Sequence[int], dtype: Any = "float16") -> None:
        super().__init__(math.prod(shape[:-1]), shape[-1], dtype, False)
        self.shape = list(shape)


class GeneralReductionTemplate(_Rows):
    """structure: "S" for each dimension that stays, "R" for one that is summed."""

    def __init__(self, structure: Sequence[str] | str, shape: Sequence[int], dtype: Any = "float16") -> None:
        if len(structure) != len(shape) or set(structure) - {"S", "R"}:
            raise error(ValueError, f"structure {structure!r} does not say S or R for each dimension of {tuple(shape)}")
        kept = math.prod(size for kind, size in zip(structure, shape) if kind == "S")
        super().__init__(kept, math.prod(shape) // kept, dtype, True)
        self.structure, self.shape = structure, list(shape)


class GEMVTemplate(_Rows):
    """A matrix of N rows times a vector of K."""

    def __init__(
        self,
        N: int,
        K: int,
        trans_B: bool = True,
        in_dtype: Any = "float16",
        out_dtype: Any = "float16",
        accum_dtype: Any = "float16",
        with_bias: bool = False,
    ) -> None:
        super().__init__(N, K, in_dtype, True)
        self.N, self.K, self.trans_B = N, K, trans_B
