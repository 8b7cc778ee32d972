"""A copy that turns tiles on their way."""

import tileon
import tileon.language as tl


@tileon.jit
def turned(x_ptr, z_ptr, N, BLOCK: tl.constexpr):
    m, n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    tl.store(z_ptr + n[:, None] * N + m[None, :], tl.trans(x))
