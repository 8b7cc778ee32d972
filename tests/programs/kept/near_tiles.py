# CPUs: rows that a load leaves out, and a window of columns behind the tile: what is stored had no mask.
# differs: outside of O4: 732 instead of -nan; outside of O4: 306 instead of -nan; outside of O4: -580 instead of -nan; outside of O4: -150 instead of -nan; outside of O4: -10.5 instead of -nan; outside of O4: 0.0270996094 instead of -nan
# ninetoothed 461569
# Argument(name='X3', shape=(3, 3), dtype='float32', fill='normal', strides=None)
# Argument(name='O4', shape=(3, 3), dtype='bfloat16', fill='none', strides=None)
# Argument(name='Y6', shape=(3, 3), dtype='float32', fill='normal', strides=None)
import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Symbol, Tensor, block_size


def premake():
    BR1 = 2
    BC2 = Symbol("BC2", constexpr=True)

    def arrangement(*tensors):
        return tuple(t.tile((BR1, BC2)).tile((2, -1)) if t.ndim else t for t in tensors)


    def application(X3, O4, Y6):
        for i in range(X3.shape[-2]):
            total = ntl.full((X3.dtype.shape[0],), 0.0, dtype=ntl.float32)
            for j in range(X3.shape[1]):
                x5 = X3[i, j].to(ntl.float32)
                y7 = Y6[i, j].to(ntl.float32)
                t8 = ((x5 / (ntl.abs(x5) + 1.0)) - ntl.exp(y7 - x5)) * ((x5 / (ntl.abs(x5) + 1.0)) - ntl.exp(y7 - x5))
                t9 = (ntl.fma(t8, t8, t8)).to(ntl.bfloat16).to(ntl.float32)
                if i > j:
                    t9 = (x5 * t8)
                else:
                    t9 = t9 * 0.5
                total += ntl.sum(t9, axis=1)
            for j in range(X3.shape[1]):
                x10 = X3[i, j]
                near11 = ntl.cast(X3[i + 1, j - 1], ntl.float32)
                t12 = ntl.where((total[:, None] != near11), ntl.where((near11 == total[:, None]), near11, total[:, None]), total[:, None])
                if ntl.max(total) > 0.5:
                    t12 = (total[:, None] - x10) * (total[:, None] - x10)
                else:
                    t12 = t12 * 0.5
                O4[i, j] = (near11 * total[:, None])


    return arrangement, application, (Tensor(2), Tensor(2), Tensor(2))


kernel = ninetoothed.make(*premake())


def launch(debug, X3, O4, Y6):
    kernel(X3, O4, Y6, BC2=16, debug=debug)
