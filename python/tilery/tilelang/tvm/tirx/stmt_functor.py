"""Walks over upstream's trees of statements, which are not made here."""

from ...refused import PASSES, function

ir_transform = function("tvm.tirx.stmt_functor.ir_transform", PASSES)
post_order_visit = function("tvm.tirx.stmt_functor.post_order_visit", PASSES)
substitute = function("tvm.tirx.stmt_functor.substitute", PASSES)
