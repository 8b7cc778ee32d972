"""`from tilery import triton`: the language of tilery.tileon under its other name."""

import sys

from . import tileon

# The same modules, not copies of them: tensors and constants must be of one class.
_PREFIX = tileon.__name__
for _name in [n for n in sys.modules if n == _PREFIX or n.startswith(_PREFIX + ".")]:
    sys.modules[__name__ + _name[len(_PREFIX) :]] = sys.modules[_name]
