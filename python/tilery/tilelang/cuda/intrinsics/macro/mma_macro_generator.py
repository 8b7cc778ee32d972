"""Warps' parts of a matrix product as a kernel spells it out: factors from shared memory into memory of each thread's own,
products of 16-row tiles, sums to where they belong. Which thread has which element is PTX's layout of mma."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .....core.ignored import ignore
from .....errors import error
from ....language.kernel import get_thread_binding
from ....language.mma_op import warp_product
from ....refused import hook
from ....tracing.context import threads
from ....tracing.dtypes import dtype as element_type
from ....tracing.memory import Element, Memory, Region
from ....tracing.values import binary

_DEPTHS = {64: 4, 32: 8, 16: 16, 8: 32, 4: 64}


def _place(buffer: Any, row: Any, column: Any) -> Element:
    """An element of the matrix that a buffer, or a region, ends with."""
    if isinstance(buffer, Region):
        *outer, i, j = buffer.starts
        return Element(buffer.memory, [*outer, binary("+", i, row), binary("+", j, column)])
    return Element(buffer, [*[0] * (buffer.ndim - 2), row, column])


def _own(buffer: Any, number: Any) -> Element:
    """An element of memory of a thread's own."""
    if isinstance(buffer, Region):
        *outer, first = buffer.starts
        return Element(buffer.memory, [*outer, binary("+", first, number)])
    return Element(buffer, [number])


class TensorCoreIntrinEmitter:
    """block_row_warps x block_col_warps warps, of which each computes warp_row_tiles x warp_col_tiles elements; chunk: the depth
    of the tiles in shared memory. Tiles of A are 16 x micro_size_k, those of B micro_size_k x micro_size_y, 8 or 16."""

    M_DIM, WARP_SIZE = 16, 32

    def __init__(
        self,
        a_dtype: Any = "float16",
        b_dtype: Any = "float16",
        accum_dtype: Any = "float16",
        a_transposed: bool = False,
        b_transposed: bool = False,
        block_row_warps: int = 2,
        block_col_warps: int = 2,
        warp_row_tiles: int = 8,
        warp_col_tiles: int = 8,
        chunk: int = 16,
        reduce_k: int = 1,
        num_elems_per_byte: int = 1,
        is_m_first: bool = False,
        thread_var: Any = None,
    ) -> None:
        self.a_dtype, self.b_dtype, self.accum_dtype = map(element_type, (a_dtype, b_dtype, accum_dtype))
        if self.a_dtype.bits not in _DEPTHS:
            raise error(ValueError, f"Unsupported dtype: {self.a_dtype}")
        self.a_transposed, self.b_transposed = a_transposed, b_transposed
        self.block_row_warps, self.block_col_warps = block_row_warps, block_col_warps
        self.warp_row_tiles, self.warp_col_tiles = warp_row_tiles, warp_col_tiles
        self.chunk, self.reduce_k, self.is_m_first, self.thread_var = chunk, reduce_k, is_m_first, thread_var
        self.num_elems_per_byte = num_elems_per_byte
        self.k_dim = self.micro_size_k = _DEPTHS[self.a_dtype.bits]
        self.micro_size_x = self.M_DIM
        self.n_dim = self.micro_size_y = 16 if warp_col_tiles % 16 == 0 else 8
        if warp_row_tiles % 16 or warp_col_tiles % self.n_dim:
            raise error(
                ValueError,
                f"a warp computes tiles of 16 rows and 8 columns: {warp_row_tiles} x {warp_col_tiles} elements are no multiple",
            )
        self.warp_rows = self.mma_num_inst_m = warp_row_tiles // 16
        self.warp_cols = self.mma_num_inst_n = warp_col_tiles // self.n_dim
        self.local_size_a = 16 * self.k_dim // 32
        self.local_size_b = self.n_dim * self.k_dim // 32
        self.local_size_out = 16 * self.n_dim // 32
        self.threads = self.WARP_SIZE * block_row_warps * block_col_warps * reduce_k

    def get_thread_binding(self) -> Any:
        return get_thread_binding(0) if self.thread_var is None else self.thread_var

    def extract_thread_binding(self, thread_id: Any, is_m_first: bool | None = None) -> tuple[Any, Any, Any]:
        """(lane, warp along n, warp along m) of a thread."""
        warp = thread_id // self.WARP_SIZE
        if self.is_m_first if is_m_first is None else is_m_first:
            m, n = warp % self.block_row_warps, warp // self.block_row_warps % self.block_col_warps
        else:
            n, m = warp % self.block_col_warps, warp // self.block_col_warps % self.block_row_warps
        return thread_id % self.WARP_SIZE, n, m

    def _place(self) -> tuple[Any, Any, Any]:
        threads(type(self).__name__)
        return self.extract_thread_binding(self.get_thread_binding())

    def get_store_index_map(self, inverse: bool = False) -> Any:
        """Of the sums of a tile: (lane, number of the thread's element) -> (row, column); inverse: the reverse."""
        if inverse:
            return lambda i, j: (i % 8 * 4 + j % 8 // 2, j // 8 * 4 + i // 8 * 2 + j % 2)
        return lambda lane, i: (lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i // 4 * 8 + i % 2)

    def _factor(self, first: Any, lane: Any, of_a: bool) -> Iterator[tuple[Any, Any]]:
        """(row of A or column of B, place along k) of each of the thread's elements."""
        w = max(1, 32 // (self.a_dtype if of_a else self.b_dtype).bits)
        rows = 2 if of_a else self.n_dim // 8
        for i in range(self.local_size_a if of_a else self.local_size_b):
            word = i // w
            chunks = self.k_dim // (4 * w)
            chunk, half = (word // rows, word % rows) if of_a else (word % chunks, word // chunks)
            yield (
                binary("+", first, binary("+", lane // 4, 8 * half)),
                binary("+", lane % 4 * w, i % w + 4 * w * chunk),
            )

    def _load(self, local: Any, shared: Any, tile: Any, rk: Any, of_a: bool) -> None:
        lane, warp_n, warp_m = self._place()
        first = warp_m * self.warp_row_tiles if of_a else warp_n * self.warp_col_tiles
        depth = binary("+", binary("*", rk, self.chunk), binary("*", tile, self.k_dim))
        size, count, step = (
            (self.local_size_a, self.warp_rows, 16) if of_a else (self.local_size_b, self.warp_cols, self.n_dim)
        )
        k_first = self.a_transposed if of_a else not self.b_transposed
        for i in range(count):
            for number, (row, k) in enumerate(self._factor(binary("+", first, i * step), lane, of_a)):
                k = binary("+", depth, k)
                source = _place(shared, k, row) if k_first else _place(shared, row, k)
                _own(local, i * size + number).store(source.read())

    def ldmatrix_a(self, A_local_buf: Any, A_shared_buf: Any, ki: Any, rk: Any = 0) -> None:
        """The thread's elements of tile `ki` along k of A."""
        self._load(A_local_buf, A_shared_buf, ki, rk, True)

    def ldmatrix_b(self, B_local_buf: Any, B_shared_buf: Any, ki: Any, rk: Any = 0) -> None:
        """The thread's elements of tile `ki` along k of B."""
        self._load(B_local_buf, B_shared_buf, ki, rk, False)

    def mma_atom(self, A_local_buf: Any, B_local_buf: Any, C_local_buf: Any, i: Any, j: Any, k_inner: Any = 0) -> None:
        """C += A * B of tile (i, j) of the warp."""
        threads(type(self).__name__)
        ignore("tilelang.TensorCoreIntrinEmitter.mma_atom", k_inner=k_inner)

        def elements(buffer: Any, number: Any, size: int) -> list[Element]:
            return [_own(buffer, binary("+", binary("*", number, size), place)) for place in range(size)]

        a = [element.read() for element in elements(A_local_buf, i, self.local_size_a)]
        b = [element.read() for element in elements(B_local_buf, j, self.local_size_b)]
        c = elements(C_local_buf, binary("+", binary("*", i, self.warp_cols), j), self.local_size_out)
        part = self.k_dim // 4
        for half in range(self.n_dim // 8):
            sums = c[4 * half : 4 * half + 4]
            values = warp_product(a, b[part * half : part * half + part], [s.read() for s in sums], "mma")
            for element, value in zip(sums, values):
                element.store(value)

    def mma(self, A_local_buf: Any, B_local_buf: Any, C_local_buf: Any, k_inner: Any = 0) -> None:
        """C += A * B of all tiles of the warp."""
        for i in range(self.warp_rows):
            for j in range(self.warp_cols):
                self.mma_atom(A_local_buf, B_local_buf, C_local_buf, i, j, k_inner)

    def stmatrix(self, C_local_buf: Any, C_buf: Any, pid_m: Any = None, pid_n: Any = None) -> None:
        """The sums to a matrix, to tiles [row of tiles, column of tiles, row, column], or to block (pid_m, pid_n) of a tensor."""
        lane, warp_n, warp_m = self._place()
        places = self.get_store_index_map()
        top, left = binary("*", warp_m, self.warp_rows), binary("*", warp_n, self.warp_cols)
        if pid_m is not None and pid_n is not None:
            top = binary("+", binary("*", pid_m, self.block_row_warps * self.warp_rows), top)
            left = binary("+", binary("*", pid_n, self.block_col_warps * self.warp_cols), left)
        tiled = isinstance(C_buf, Memory) and C_buf.ndim == 4
        for i in range(self.warp_rows):
            for j in range(self.warp_cols):
                for number in range(self.local_size_out):
                    row, column = places(lane, number)
                    tile = binary("+", top, i), binary("+", left, j)
                    own = (i * self.warp_cols + j) * self.local_size_out
                    if tiled:
                        to = Element(C_buf, [*tile, row, column])
                    else:
                        to = _place(C_buf, binary("+", tile[0] * 16, row), binary("+", tile[1] * self.n_dim, column))
                    to.store(_own(C_local_buf, own + number).read())


__getattr__ = hook(
    "tilelang.cuda.intrinsics.macro.mma_macro_generator", "other emitters are not here: T.gemm says what is multiplied"
)
