"""How functions become IR here: see tilery.frontend."""

from ...refused import hook

__getattr__ = hook("tilelang.language.eager.ast", "functions are rewritten in another form here, which is no interface")
