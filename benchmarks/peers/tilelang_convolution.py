"""A convolution as the product of its windows with its filters, as TileLang's users write it."""

import tilelang
import tilelang.language as T


@tilelang.jit
def convolution(images, height, width, channels, filters, window, pad, block_m, block_n, block_k, by_index=False):
    """Images (N, H, W, C), filters (R, S, C, F), a stride of 1; by_index: places are computed, else `T.c2d_im2col` does."""
    high, wide = height + 2 * pad - window + 1, width + 2 * pad - window + 1
    depth = window * window * channels

    @T.prim_func
    def main(
        X: T.Tensor((images, height, width, channels), "float16"),
        K: T.Tensor((depth, filters), "float16"),
        Y: T.Tensor((images * high * wide, filters), "float16"),
    ):
        with T.Kernel(T.ceildiv(filters, block_n), T.ceildiv(images * high * wide, block_m), threads=256) as (bx, by):
            patches = T.alloc_shared((block_m, block_k), "float16")
            weights = T.alloc_shared((block_k, block_n), "float16")
            sums = T.alloc_fragment((block_m, block_n), "float32")
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(depth, block_k), num_stages=3):
                if by_index:
                    for i, j in T.Parallel(block_m, block_k):
                        at, place = k * block_k + j, by * block_m + i
                        row = place % (high * wide) // wide + at // (window * channels) - pad
                        column = place % wide + at // channels % window - pad
                        inside = (row >= 0) and (column >= 0) and (row < height) and (column < width)
                        patches[i, j] = T.if_then_else(inside, X[place // (high * wide), row, column, at % channels], 0)
                else:
                    T.c2d_im2col(X, patches, by, k, window, 1, 1, pad)
                T.copy(K[k * block_k, bx * block_n], weights)
                T.gemm(patches, weights, sums)
            T.copy(sums, Y[by * block_m, bx * block_n])

    return main
