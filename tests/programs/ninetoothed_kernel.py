"""What a NineToothed program consists of: tensors, how they are arranged, an application, and the call."""

import re
from dataclasses import dataclass, field

from programs.frame import Argument
from programs.triton_expressions import HELPERS, expression
from programs.writer import Value, Writer

HEAD = """import ninetoothed
import ninetoothed.language as ntl
import torch
from ninetoothed import Symbol, Tensor, block_size


"""
FLOATS = ("float32", "float32", "float32", "float16", "bfloat16")
OUTS = ("float32", "float32", "float16", "bfloat16")
KNOWN = 'shape_options={"constexpr": True}'
EXTRA = {
    "scaled_into": "def scaled_into(value, result):\n    result = value * 0.5\n",
    "moments": "def moments(value, count):\n    mean = ntl.sum(value) / count\n    return mean, ntl.sum(value * value) / count\n",
    "product": "def product(a, b, c):\n    for k in range(a.shape[0]):\n        c += ntl.dot(a[k], b[k])\n",
    "larger": "def larger(a, b):\n    return ntl.maximum(a, b)\n",
}


@dataclass
class Parameter:
    """Of the application. Steps: ".tile((2,))" and "[1:]" act on the tensor, "d.squeeze(0)" on elements, "dd." on theirs."""

    name: str
    constructor: str
    passed: str  # in the launch
    steps: list = field(default_factory=list)
    order: int = 0  # tensors that others are arranged like come first

    @property
    def arranged(self):
        return f"{self.name}_tiled" if self.steps else self.name

    def statements(self, base):
        """Lines that arrange it, beginning with the text `base`."""
        if not self.steps:
            return []
        lines, chain = [], base
        for step in self.steps:
            if step[0] in ".[":
                chain = (chain or self.arranged) + step
                continue
            level, _, text = step.partition(".")
            if chain:
                lines.append(f"{self.arranged} = {chain}")
            place = self.arranged + ".dtype" * len(level)
            lines.append(f"{place} = {place}.{text}")
            chain = ""
        return lines + ([f"{self.arranged} = {chain}"] if chain else [])


class Kernel(Writer):
    def __init__(self, rng):
        super().__init__(rng)
        self.arguments = []
        self.parameters = []
        self.symbols = []  # lines of the module, or of the function around the application
        self.keywords = {}  # of the call
        self.numbers_of = {}  # of sizes that have names

    # -- what is passed
    def tensor(self, stem, shape, *steps, dtype="float32", fill="normal", other=None, options="", plain=False):
        """A tensor with its arrangement; its name. Inputs are views of larger ones, transposed or expanded now and then."""
        name = self.name(stem.rstrip("0123456789"))
        shown, strides, passed = tuple(shape), None, name
        if not plain and shape and 0 not in shape:
            shown, strides, passed = self.layout(name, tuple(shape), fill)
        self.arguments.append(Argument(name, shown, dtype, fill, strides))
        parts = [self.ranked(shape, options)]
        if other is not None:
            parts.append(f"other={other}")
        if options:
            parts.append(options)
        self.parameters.append(Parameter(name, f"Tensor({', '.join(parts)})", passed, list(steps)))
        return name

    def ranked(self, shape, options):
        if options or self.chance(0.85):
            return self.pick(*[str(len(shape))] * 3, f"ndim={len(shape)}")
        sizes = [str(n) if self.chance(0.4) else "None" for n in shape]
        return f"shape=({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def layout(self, name, shape, fill):
        """(shape, strides, text of what is passed) of the argument behind a tensor of this shape."""
        rank, last = len(shape), shape[-1]
        form = self.rng.random()
        if form < 0.5:
            return shape, None, name
        if form < 0.6 and rank > 1:  # rows with a gap
            steps = [1] * rank
            steps[-2] = last + self.rng.randint(1, 8)
            for d in range(rank - 3, -1, -1):
                steps[d] = steps[d + 1] * shape[d + 1]
            return shape, tuple(steps), name
        if form < 0.7 and rank > 1:
            a, b = self.rng.sample(range(rank), 2)
            turned = list(shape)
            turned[a], turned[b] = shape[b], shape[a]
            return tuple(turned), None, f"{name}.transpose({a}, {b})" if rank > 2 or self.chance(0.5) else f"{name}.T"
        if form < 0.8:
            step, first = self.pick(2, 2, 3), self.rng.randint(0, 2)
            cut = f"{first or ''}:{first + last * step}:{step}"
            return (*shape[:-1], first + last * step), None, f"{name}[..., {cut}]"
        if form < 0.9 and fill != "none":  # the same elements for every index of a dimension
            d = self.rng.randrange(rank)
            return tuple(1 if e == d else n for e, n in enumerate(shape)), None, f"{name}.expand({shape})"
        return shape, None, name

    def number(self, stem, text, constexpr=False):
        name = self.name(stem)
        self.parameters.append(Parameter(name, f"Tensor(0{', constexpr=True' if constexpr else ''})", text))
        return name

    def last(self):
        """Parameters before this one are inputs, as a rule: numbers stand anywhere."""
        if len(self.parameters) > 1 and self.chance(0.3):
            self.parameters.append(self.parameters.pop(self.rng.randrange(1, len(self.parameters))))

    def size(self, stem, value, free=()):
        """The text of a tile's size: a number, a name for one, or a symbol that the call gives a value. `free`: texts of the
        bounds between which the compiler may choose."""
        form = self.rng.random()
        if form < 0.4:
            return str(value)
        name = self.name(stem)
        self.numbers_of[name] = value
        if form < 0.5:
            self.symbols.append(f"{name} = {value}")
        elif free and form < 0.65:
            first = self.pick(*free).split(",")[0]  # one choice: CPUs and GPUs take others, on which a program's meaning may hang
            self.symbols.append(f"{name} = block_size({first}, {first})")
        elif form < 0.85:
            self.symbols.append(f'{name} = Symbol("{name}", constexpr=True)')
            self.keywords[name] = value
        else:
            self.symbols.append(f'{name} = Symbol("{name}", meta=True)')
            self.keywords[name] = value
        return name

    def constant(self):
        """A number that the function takes from around it."""
        name = self.name("FACTOR")
        self.symbols.append(f"{name} = {self.pick('0.5', '0.75', '1.5')}")
        self.bind(name)

    def value(self, size):
        """The number that a size's text stands for."""
        return self.numbers_of.get(size) or int(size)

    # -- expressions
    def read(self, text, dtype="float32"):
        """A tile as float32."""
        if dtype == "float32" and self.chance(0.7):
            return text
        return self.pick(f"ntl.cast({text}, ntl.float32)", f"{text}.to(ntl.float32)")

    def of(self, axes, depth=2):
        """The text of a float with these axes."""
        value = expression(self, axes, depth)
        if value.axes == axes:
            return value.text
        full = [v for v in self.values if v.kind == "f" and v.axes == axes]
        return f"({self.rng.choice(full[-3:]).text} {self.pick('+', '-', '*')} {value.text})"

    def bind(self, text, axes="", kind="f"):
        value = Value(text, axes, kind)
        self.values.append(value)
        return value

    # -- the source
    def source(self):
        """(text, arguments)"""
        body = self.text()
        if self.chance(0.1):
            body = re.sub(r"\b(\w+)\[:, None\]", r"ntl.expand_dims(\1, 1)", body)
        used = body + "".join(step for p in self.parameters for step in p.steps)
        self.symbols = [line for line in self.symbols if re.search(rf"\b{line.split()[0]}\b", used)]
        self.keywords = {name: value for name, value in self.keywords.items() if re.search(rf"\b{name}\b", used)}
        functions = "".join(f"{code}\n\n" for name, code in EXTRA.items() if f"{name}(" in body or f"{name})" in body)
        functions += "".join(f"def {name}(x):\n{code}\n\n" for name, code in HELPERS.items() if f"{name}(" in body)
        kernel = self.pick(self.decorated, self.made_at_once, self.made_at_once, self.made_by_a_function)(body)
        passed = [p.passed for p in self.parameters] + [f"{key}={value}" for key, value in self.keywords.items()]
        launch = f"    kernel({', '.join(passed)}, debug=debug)\n"
        text = f"{HEAD}{functions}{kernel}\n\ndef launch(debug, {', '.join(a.name for a in self.arguments)}):\n{launch}"
        return re.sub(r"\btl\.", "ntl.", text), tuple(self.arguments)

    def decorated(self, body):
        """By ninetoothed.jit: the tensors are arranged before the function, in annotations or in the module."""
        head, annotations = "", ", ".join(f"{p.name}: {p.constructor}{''.join(p.steps)}" for p in self.parameters)
        steps = [step for p in self.parameters for step in p.steps]
        if any(step[0] == "d" for step in steps) or any(p.name in step for p in self.parameters for step in steps):
            head = "".join(f"{p.name} = {p.constructor}\n" for p in self.parameters)
            head += "".join(f"{line}\n" for p in self.in_order() for line in p.statements(p.name))
            annotations = ", ".join(f"{p.name}: {p.arranged}" for p in self.parameters)
        chosen = self.hints()
        head = "".join(f"{line}\n" for line in self.symbols) + head
        return f"{head}\n\n@ninetoothed.jit{f'({chosen})' if chosen else ''}\ndef kernel({annotations}):\n{body}"

    def made_at_once(self, body):
        """By ninetoothed.make from functions of the module."""
        chosen = self.hints()
        symbols = "".join(f"{line}\n" for line in self.symbols)
        call = f"ninetoothed.make(arrangement, application, {self.tensors()}{', ' + chosen if chosen else ''})"
        return f"{symbols}\n\n{self.functions(body)}kernel = {call}\n"

    def made_by_a_function(self, body):
        """By ninetoothed.make from functions within another, whose variables they use."""
        result = f"return arrangement, application, {self.tensors()}\n"
        inner = "".join(f"{line}\n" for line in self.symbols) + f"\n{self.functions(body)}{result}"
        inner = "".join(f"    {line}" if line.strip() else line for line in inner.splitlines(keepends=True))
        return f"def premake():\n{inner}\n\nkernel = ninetoothed.make(*premake())\n"

    def functions(self, body):
        names = ", ".join(p.name for p in self.parameters)
        ways = {tuple(p.steps) for p in self.parameters if "Tensor(0" not in p.constructor}
        steps = ways.pop() if len(ways) == 1 else ("d",)
        if all(step[0] in ".[" for step in steps) and not any(p.name in step for p in self.parameters for step in steps):
            head = f"def arrangement(*tensors):\n    return tuple(t{''.join(steps)} if t.ndim else t for t in tensors)\n"
        else:
            lines = [line for p in self.in_order() for line in p.statements(p.name)]
            lines.append(f"return {', '.join(p.arranged for p in self.parameters)}{',' if len(self.parameters) == 1 else ''}")
            head = f"def arrangement({names}):\n" + "".join(f"    {line}\n" for line in lines)
        return f"{head}\n\ndef application({names}):\n{body}\n\n"

    def tensors(self):
        return f"({', '.join(p.constructor for p in self.parameters)}{',' if len(self.parameters) == 1 else ''})"

    def in_order(self):
        return sorted(self.parameters, key=lambda p: p.order)

    def hints(self):
        return self.pick(*[""] * 5, "num_warps=4", "num_stages=3", "num_warps=8, num_stages=1")
