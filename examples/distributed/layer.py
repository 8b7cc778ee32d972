"""A transformer's layer, split over processes as in Megatron: heads, the hidden columns of the MLP and classes of the loss.

Its functions are given, by our kernels (`layer_kernels`) or by torch.
"""

import layer_kernels
import torch
import torch.distributed as dist
import torch.nn.functional as F


class OurFunctions:
    linear, rms_norm, gated, logits = layer_kernels.linear, layer_kernels.rms_norm, layer_kernels.gated, layer_kernels.logits

    @staticmethod
    def attention(q, k, v):
        return layer_kernels.attention(q, k, v)[0]


class TorchFunctions:
    linear = F.linear

    @staticmethod
    def rms_norm(x, weight, eps):
        return F.rms_norm(x, weight.shape, weight, eps)

    @staticmethod
    def gated(x):
        gate, up = x.chunk(2, 1)
        return F.silu(gate) * up

    @staticmethod
    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    @staticmethod
    def logits(x, targets, first):
        x, own = x.float(), (targets >= first) & (targets < first + x.shape[1])
        picked = x.gather(1, torch.where(own, targets - first, 0)[:, None])[:, 0]
        return x.logsumexp(1), torch.where(own, picked, 0)


class _Copied(torch.autograd.Function):
    """What all processes have goes on in each of them: gradients are added up."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class _Summed(torch.autograd.Function):
    """Each process has a part of the sum."""

    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def copied(x):
    return _Copied.apply(x)


def summed(x):
    return _Summed.apply(x)


class Model(torch.nn.Module):
    """Tokens -> the loss of the next ones: an embedding, a layer, a norm, logits.

    :param sizes: `columns`, `heads`, `hidden`, `classes`.
    :param order: a seed; the model is the same, with its columns and those of the MLP in another order, and the sums along them.
    Every process has the same numbers, of split matrices its part."""

    def __init__(self, functions, sizes, device, dtype, order=None):
        super().__init__()
        self.functions, self.sizes, self.rank, self.world = functions, sizes, dist.get_rank(), dist.get_world_size()
        generator = torch.Generator().manual_seed(0)
        columns, hidden, classes = sizes["columns"], sizes["hidden"], sizes["classes"]

        def matrix(rows, columns, scale=None):
            return torch.randn(rows, columns, generator=generator) * (columns**-0.5 if scale is None else scale)

        def split(whole, dim, groups=1):
            """This process's part of each of the groups along dim."""
            return torch.cat([group.chunk(self.world, dim)[self.rank] for group in whole.chunk(groups, dim)], dim)

        numbers = {
            "embedding": matrix(classes, columns, 1.0),
            "qkv": split(matrix(3 * columns, columns), 0, 3),
            "mixed": split(matrix(columns, columns), 1),
            "up": split(matrix(2 * hidden, columns), 0, 2),
            "down": split(matrix(columns, hidden), 1),
            "head": split(matrix(classes, columns), 0),
            **{f"norm{i}": torch.ones(columns) for i in range(3)},
        }
        if order is not None:
            generator.manual_seed(order)
            of_columns, of_hidden = (torch.randperm(n, generator=generator) for n in (columns, hidden // self.world))
            for name in ("embedding", "qkv", "up", "head"):
                numbers[name] = numbers[name][:, of_columns]
            for name in ("mixed", "down"):
                numbers[name] = numbers[name][of_columns]
            numbers["up"] = torch.cat([half[of_hidden] for half in numbers["up"].chunk(2)])
            numbers["down"] = numbers["down"][:, of_hidden]
        for name, value in numbers.items():
            setattr(self, name, torch.nn.Parameter(value.to(device, dtype)))

    def norm(self, x, weight):
        return self.functions.rms_norm(x, weight, 1e-5)

    def attend(self, x, batches):
        heads = self.sizes["heads"] // self.world
        qkv = self.functions.linear(x, self.qkv).view(batches, -1, 3, heads, self.sizes["columns"] // self.sizes["heads"])
        out = self.functions.attention(*qkv.permute(2, 0, 3, 1, 4).contiguous())
        return self.functions.linear(out.transpose(1, 2).reshape(x.shape[0], -1), self.mixed)

    def forward(self, tokens):
        """tokens: [batches, length + 1]"""
        batches, targets = tokens.shape[0], tokens[:, 1:].flatten()
        x = F.embedding(tokens[:, :-1].flatten(), self.embedding)
        x = x + summed(self.attend(copied(self.norm(x, self.norm0)), batches))
        hidden = self.functions.gated(self.functions.linear(copied(self.norm(x, self.norm1)), self.up))
        x = x + summed(self.functions.linear(hidden, self.down))
        scores = self.functions.linear(copied(self.norm(x, self.norm2)), self.head)
        return self.loss(*self.functions.logits(scores, targets, self.rank * scores.shape[1]))

    def loss(self, logs, picked):
        """The mean of -log(softmax) at the targets; what the others have is a constant to this process."""
        parts = [torch.empty_like(logs) for _ in range(self.world)]
        dist.all_gather(parts, logs.detach())
        parts[self.rank] = logs
        return (torch.stack(parts).logsumexp(0) - summed(picked)).mean()
