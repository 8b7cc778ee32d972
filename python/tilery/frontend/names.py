"""Which names a piece of code assigns, and which it reads from outside."""
import ast


def _targets(node, out):
    if isinstance(node, ast.Name):
        out.append(node.id)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for element in node.elts:
            _targets(element, out)
    elif isinstance(node, ast.Starred):
        _targets(node.value, out)


class _Assigned(ast.NodeVisitor):
    def __init__(self):
        self.names = []
        self.shared = []  # declared nonlocal by a nested function: any call may change them

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names.append(node.id)

    def visit_FunctionDef(self, node):
        self.names.append(node.name)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Nonlocal):
                self.shared += inner.names

    def visit_Import(self, node):
        self.names += [(a.asname or a.name).split(".")[0] for a in node.names]

    visit_ImportFrom = visit_Import

    def visit_Lambda(self, node):
        pass

    def _comprehension(self, node):
        self.visit(node.generators[0].iter)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def assigned(block):
    """(names assigned in order of first appearance, names that nested functions may assign)."""
    visitor = _Assigned()
    for statement in block:
        visitor.visit(statement)
    return list(dict.fromkeys(visitor.names)), list(dict.fromkeys(visitor.shared))


def parameters(arguments):
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    every += [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [a.arg for a in every]


def bound_in_comprehension(node):
    out = []
    for generator in node.generators:
        _targets(generator.target, out)
    return out


def read_paths(definition):
    """Dotted names a function may read from outside: {('tl', 'float32'), ('BLOCK',)}. A superset: what no branch reaches is listed too."""
    local = set(parameters(definition.args))
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            local.add(node.id)
    paths, inside = set(), set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and id(node) not in inside:
            path, base = [node.attr], node.value
            while isinstance(base, ast.Attribute):
                inside.add(id(base))
                path.insert(0, base.attr)
                base = base.value
            if isinstance(base, ast.Name):
                inside.add(id(base))
                if base.id not in local:
                    paths.add((base.id, *path))
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside and node.id not in local:
            paths.add((node.id,))
    return paths
