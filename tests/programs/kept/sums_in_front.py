# CPUs: the segments of a flattened row carried the partials of the maxima of a loop in front, which were computed on one side of a branch.
# ninetoothed 977
# Argument(name='X1', shape=(2, 2, 2), dtype='bfloat16', fill='normal', strides=None)
# Argument(name='Y6', shape=(2, 2, 2), dtype='float32', fill='normal', strides=None)
# Argument(name='O30', shape=(2, 2, 2), dtype='float32', fill='none', strides=(18, 9, 1))
import ninetoothed
import ninetoothed.language as ntl
from ninetoothed import Tensor


def premake():
    def arrangement(X1, Y6, O30):
        X1_tiled = X1.permute((1, 0, 2)).flatten(start_dim=1).tile((1, 32))
        X1_tiled.dtype = X1_tiled.dtype.squeeze((0,))
        Y6_tiled = Y6.permute((1, 0, 2)).flatten(start_dim=1).tile((1, 32))
        O30_tiled = O30.permute((1, 0, 2)).flatten(start_dim=1).tile((1, 32))
        return X1_tiled, Y6_tiled, O30_tiled

    def application(X1, Y6, O30):
        top2 = ntl.full((1,), float("-inf"), dtype=ntl.float32)
        for i4 in range(0, X1.shape[0], 1):
            y7 = Y6[i4]
            top2 = ntl.maximum(top2, ntl.max(ntl.exp(y7), axis=0))
        for i24 in range(X1.shape[0]):
            x25 = ntl.cast(X1[i24], ntl.float32)
            y26 = Y6[i24]
            O30[i24] = ntl.where((y26 > top2) | (y26 < x25), y26 * x25, ntl.exp2(y26 * 0.5))

    return arrangement, application, (Tensor(3, other=0.0), Tensor(3, other=0.0), Tensor(3))


kernel = ninetoothed.make(*premake())


def launch(debug, X1, Y6, O30):
    kernel(X1, Y6, O30, debug=debug)
