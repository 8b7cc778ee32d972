"""The shortest source that still fails: statements and expressions are taken out as long as it does.

It knows Python's syntax only, so that it serves every language: a candidate that makes no sense is refused by the interpreter."""

import ast
import copy
import dataclasses
import time


def statements(tree):
    """Every list of statements, the outer ones first."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def without(block, first, count):
    """The block less some statements."""
    rest = block[:first] + block[first + count :]
    return rest or [ast.Pass()]


def smaller(node):
    """Expressions that may stand in for this one."""
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        yield ast.Constant(node.value // 2)
        yield ast.Constant(node.value - 1)
        yield ast.Constant(1)
    if isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.IfExp, ast.Attribute)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
                yield child
    if isinstance(node, ast.Call):
        for number in range(len(node.keywords)):
            fewer = copy.copy(node)
            fewer.keywords = node.keywords[:number] + node.keywords[number + 1 :]
            yield fewer


def edits(source):
    """Candidates, the boldest first."""
    tree = ast.parse(source)
    blocks = list(statements(tree))
    for size in (8, 4, 2, 1):
        for number, block in enumerate(blocks):
            if len(block) == 1 and isinstance(block[0], ast.Pass):
                continue
            for first in range(0, len(block) - size + 1, max(1, size // 2)):
                yield edited(source, lambda blocks, n=number, f=first, s=size: replace(blocks[n], without(blocks[n], f, s)))
    for number, block in enumerate(blocks):
        for at, statement in enumerate(block):
            if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
                yield edited(source, lambda blocks, n=number, a=at: replace(blocks[n], unwrapped(blocks[n], a)))
    places = [(node, name, index) for node in ast.walk(tree) for name, index, _ in expressions(node)]
    for number in range(len(places)):
        node, name, index = places[number]
        for choice in range(len(list(smaller(taken(node, name, index))))):
            yield with_smaller(source, number, choice)


def unwrapped(block, at):
    return block[:at] + block[at].body + block[at + 1 :]


def replace(block, rest):
    block[:] = rest


def edited(source, change):
    tree = ast.parse(source)
    change(list(statements(tree)))
    return ast.unparse(ast.fix_missing_locations(tree))


def expressions(node):
    """(field, position in a list or None, expression) of the expressions directly below."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            yield name, None, value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield name, index, item


def taken(node, name, index):
    value = getattr(node, name)
    return value if index is None else value[index]


def with_smaller(source, number, choice):
    tree = ast.parse(source)
    places = [(node, name, index) for node in ast.walk(tree) for name, index, _ in expressions(node)]
    node, name, index = places[number]
    new = list(smaller(taken(node, name, index)))[choice]
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new
    return ast.unparse(ast.fix_missing_locations(tree))


def shrink(program, fails, seconds=120.0):
    """`fails(program)`: does it still go wrong in the same way? Its tensors stay."""
    end, seen = time.monotonic() + seconds, set()
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for source in edits(program.source):
            if time.monotonic() > end:
                break
            if source in seen or len(source) > len(ast.unparse(ast.parse(program.source))):
                continue
            seen.add(source)
            candidate = dataclasses.replace(program, source=source)
            if fails(candidate):
                program, progress = candidate, True
                break
    return program
