#include "compiler/targets/cpu/dot_sharing.h"
#include "compiler/analysis/integer_op.h"

using namespace mlir;

namespace tilery::cpu {

std::optional<SmallVector<Division>> divisionsOf(Value number, unsigned axis) {
  SmallVector<Division> divisions;
  while (true) {
    Operation *def = number.getDefiningOp();
    if (auto id = dyn_cast_if_present<tile::ProgramIdOp>(def))
      return id.getAxis() == axis ? std::optional(divisions) : std::nullopt;
    if (isa_and_present<tile::DivOp, tile::RemOp>(def)) {
      divisions.push_back({def->getOperand(1), isa<tile::DivOp>(def)});
      number = def->getOperand(0);
      continue;
    }
    analysis::IntegerOp op = analysis::integerOpOf(number);
    using Kind = analysis::IntegerOp::Kind;
    bool follows = op.kind == Kind::extend || (op.kind == Kind::multiply && analysis::constantOf(op.rhs).value_or(0)) ||
                   ((op.kind == Kind::add || op.kind == Kind::subtract) && analysis::constantOf(op.rhs));
    if (!follows)
      return std::nullopt;
    number = op.lhs;
  }
}

SmallVector<unsigned> sharersOf(ArrayRef<Value> key) {
  SmallVector<unsigned> axes;
  for (unsigned axis : {0u, 1u, 2u})
    if (llvm::none_of(key, [&](Value number) {
          auto divisions = divisionsOf(number, axis);
          return divisions && divisions->empty();
        }))
      axes.push_back(axis);
  return axes;
}

} // namespace tilery::cpu
