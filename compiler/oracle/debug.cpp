// Ops of TileDebug.td.
#include "compiler/oracle/interpreter.h"
#include "llvm/Support/Format.h"
#include <cstdio>

using namespace mlir;

namespace tilery::oracle {

static std::string laneText(const Tile &value, int64_t lane, bool hex, bool isSigned) {
  std::string text;
  llvm::raw_string_ostream out(text);
  uint64_t bits = value.lanes[lane];
  if (hex || value.element.format == Format::Pointer)
    out << llvm::format_hex(asUnsigned(value.element, bits), 2 + std::max(1u, value.element.width / 4));
  else if (value.element.isFloat())
    out << llvm::format("%f", decode(value.element, bits));
  else if (isSigned && value.element.width > 1)
    out << asSigned(value.element, wrap(value.element, bits));
  else
    out << asUnsigned(value.element, bits);
  return text;
}

// One line a lane, as Triton prints them.
static void print(Interpreter &in, tile::PrintOp op) {
  auto emit = [&](const std::string &line) {
    if (in.run.options.print)
      return in.run.options.print(line);
    std::puts(line.c_str());
    std::fflush(stdout); // Python's own output goes past C's buffer: lines would change places, or be missed
  };
  std::string head = "pid " + in.programText();
  if (op.getValues().empty())
    emit(head + " " + op.getPrefix().str());
  std::string behind = (op.getPrefix().starts_with(":") || op.getPrefix().empty() ? "" : " ") + op.getPrefix().str();
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    const Tile &tile = in.tile(value);
    bool isSigned = number >= op.getIsSigned().size() || op.getIsSigned()[number];
    for (int64_t lane = 0; lane < tile.size(); ++lane) {
      std::string index;
      int64_t rest = lane;
      for (int d = int(tile.shape.size()) - 1; d >= 0; rest /= tile.shape[d--])
        index = std::to_string(rest % tile.shape[d]) + (index.empty() ? "" : ", ") + index;
      emit(head + " idx (" + index + ")" + behind + laneText(tile, lane, op.getHex(), isSigned));
    }
  }
}

static void assertOp(Interpreter &in, tile::AssertOp op) {
  const Tile &condition = in.tile(op.getCondition());
  in.requireDecided(condition);
  for (int64_t lane = 0; lane < condition.size(); ++lane)
    if (!condition.lanes[lane] && (!op.getMask() || in.tile(op.getMask()).lanes[laneOf(in.tile(op.getMask()), lane)]))
      in.fail(op, op.getMessage().str() + " (program " + in.programText() + ")", {}, Diagnostic::Kind::Assertion);
}

void addDebugHandlers(Handlers &table) {
  table.add<tile::PrintOp>(print);
  table.add<tile::AssertOp>(assertOp);
}

} // namespace tilery::oracle
