// Reductions and scans of tiles in registers: a thread's own elements, then those of lanes, then those of warps.
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/block/block_lines.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include <set>

using namespace mlir;

namespace tilery::cuda {

llvm::Value *BlockEmitter::fromLane(llvm::Value *value, unsigned distance) {
  llvm::Type *type = value->getType();
  unsigned bits = e.module.getDataLayout().getTypeSizeInBits(type);
  llvm::Value *lane = b.CreateXor(here().lane, i32(distance));
  auto move = [&](llvm::Value *word) { return machine.shuffleFrom(e, word, lane, i32(-1)); };
  llvm::Value *whole = b.CreateBitCast(value, b.getIntNTy(bits));
  if (bits <= 32)
    return b.CreateBitCast(b.CreateTrunc(move(b.CreateZExt(whole, b.getInt32Ty())), b.getIntNTy(bits)), type);
  llvm::Value *low = move(b.CreateTrunc(whole, b.getInt32Ty())),
              *high = move(b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()));
  whole = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  return b.CreateBitCast(whole, type);
}

static SmallVector<Type> elementsOf(ValueRange tiles) {
  return llvm::map_to_vector(tiles, [](Value tile) { return getElementTypeOrSelf(tile.getType()); });
}

std::optional<SmallVector<LineDigit>> BlockEmitter::linesOf(Operation *op, unsigned axis) {
  block::LayoutAttr layout = block::layoutOf(op->getOperand(0).getType());
  auto digits = layout ? digitsAlong(layout.getLayout(), axis) : std::nullopt;
  if (!digits)
    fail(op, "combines elements that lie so that there is no code for it");
  return digits;
}

BlockEmitter::Parts BlockEmitter::fromLane(const Parts &values, unsigned distance) {
  return llvm::map_to_vector(values, [&](llvm::Value *value) { return fromLane(value, distance); });
}

void BlockEmitter::combine(Region &region, Parts &left, const Parts &right) {
  SmallVector<lower::Lanes> both;
  failed |= !lower::emitCombine(e, region, left, right, both, [&](Value outside) { return scalar(outside); });
  if (!failed)
    left.assign(both.begin(), both.end());
}

void BlockEmitter::emitReduce(tile::ReduceOp reduce) {
  unsigned axis = reduce.getAxis();
  auto digits = linesOf(reduce, axis);
  if (!digits)
    return;
  const layout::Layout &layout = block::layoutOf(reduce.getOperand(0).getType()).getLayout();
  prepare(reduce);
  SmallVector<Parts> operands;
  for (Value operand : reduce.getOperands())
    operands.push_back(partsOf(operand));
  // Registers of the result hold what the operand's registers at the same other coordinates do.
  layout::Layout rest = layout::slice(layout, axis);
  std::map<layout::Layout::Vector, unsigned> numbers;
  for (unsigned number = 0; number < rest.extent(layout::Register); ++number)
    numbers[rest.at({{layout::Register, number}})] = number;
  std::vector<SmallVector<Parts>> elements(numbers.size()); // of each row
  std::set<layout::Layout::Vector> taken;                   // other registers hold copies
  for (unsigned number = 0; number < operands[0].size(); ++number) {
    layout::Layout::Vector at = layout.at({{layout::Register, number}});
    if (!taken.insert(at).second)
      continue;
    at.erase(at.begin() + axis);
    Parts own;
    for (const Parts &parts : operands)
      own.push_back(parts[number]);
    elements[numbers.at(at)].push_back(std::move(own));
  }
  // By pairs of neighbours: long chains would wait for each result.
  std::vector<Parts> rows;
  auto combined = [&](MutableArrayRef<Parts> parts) {
    for (size_t apart = 1; apart < parts.size(); apart *= 2)
      for (size_t i = 0; i + apart < parts.size(); i += 2 * apart)
        combine(reduce.getCombine(), parts[i], parts[i + apart]);
    return Parts(parts[0]);
  };
  for (auto &row : elements)
    rows.push_back(combined(row));
  for (Parts &row : rows)
    for (const LineDigit &digit : *digits)
      for (int64_t bit = digit.place; digit.axis == layout::Lane && bit < digit.place * digit.extent; bit *= 2)
        combine(reduce.getCombine(), row, fromLane(row, unsigned(bit)));
  unsigned count = 1; // warps that share a row
  llvm::Value *own = i32(0);
  for (const LineDigit &digit : *digits)
    if (digit.axis == layout::Warp) {
      own = b.CreateAdd(own, b.CreateMul(digitOf(digit), i32(count)));
      count *= unsigned(digit.extent);
    }
  if (count > 1) {
    SmallVector<Shown> shown;
    for (auto [number, row] : llvm::enumerate(rows))
      shown.push_back({b.CreateMul(numberIn(rest, unsigned(number)), i32(count)), row});
    int64_t values = valuesBetweenWarps(layout, axis, /*scans=*/false);
    auto others = showWarps(shown, elementsOf(reduce.getOperands()), values, own, count);
    for (auto [row, all] : llvm::zip_equal(rows, others))
      row = combined(all);
  }
  for (auto [i, result] : llvm::enumerate(reduce.getResults())) {
    Parts parts;
    for (Parts &row : rows)
      parts.push_back(row[i]);
    remember(result, std::move(parts));
  }
}

/// Of the elements in a thread's registers: what lies before each within the digits that were looked at, with itself, and what all of these
/// come to.
struct BlockEmitter::Scanned {
  tile::ScanOp op;
  const layout::Layout &layout;
  std::vector<Parts> until = {}, total = {}; // by register

  int64_t order(int64_t i, int64_t count) { return op.getReverse() ? count - 1 - i : i; }
};

void BlockEmitter::putBefore(Scanned &scan, const Parts &before, llvm::Value *exists, Parts &own) {
  Parts both = before;
  combine(scan.op.getCombine(), both, own);
  for (auto [value, sum] : llvm::zip_equal(own, both))
    value = exists ? b.CreateSelect(exists, sum, value) : sum;
}

void BlockEmitter::scanRegisters(Scanned &scan, const LineDigit &digit) {
  for (int64_t first = 0; first < int64_t(scan.until.size()); ++first) {
    if (first / digit.place % digit.extent)
      continue;
    Parts running;
    for (int64_t i = 0; i < digit.extent; ++i) {
      int64_t number = first + digit.place * scan.order(i, digit.extent);
      Parts next = scan.total[number];
      if (i) {
        putBefore(scan, running, nullptr, scan.until[number]);
        putBefore(scan, running, nullptr, next);
      }
      running = next;
    }
    for (int64_t i = 0; i < digit.extent; ++i)
      scan.total[first + digit.place * i] = running;
  }
}

void BlockEmitter::scanLanes(Scanned &scan, const LineDigit &digit) {
  for (int64_t bit = digit.place; bit < digit.place * digit.extent; bit *= 2) {
    llvm::Value *isLater = b.CreateICmpEQ(b.CreateAnd(here().lane, i32(bit)), i32(scan.op.getReverse() ? 0 : bit));
    std::map<Parts, std::pair<Parts, Parts>> known; // totals: the other lane's, both lanes'
    for (auto [until, total] : llvm::zip_equal(scan.until, scan.total)) {
      auto [found, isNew] = known.try_emplace(total);
      auto &[other, both] = found->second;
      if (isNew) {
        other = both = fromLane(total, unsigned(bit));
        Parts right = total;
        for (auto [first, second] : llvm::zip_equal(both, right)) {
          llvm::Value *own = second;
          second = b.CreateSelect(isLater, own, first);
          first = b.CreateSelect(isLater, first, own);
        }
        combine(scan.op.getCombine(), both, right);
      }
      putBefore(scan, other, isLater, until);
      total = both;
    }
  }
}

void BlockEmitter::scanWarps(Scanned &scan, const LineDigit &digit) {
  unsigned axis = scan.op.getAxis(), count = unsigned(digit.extent);
  // What is shown is of a whole number of steps along the axis: the first register of each.
  std::map<layout::Layout::Vector, size_t> lines;
  SmallVector<size_t> lineOf;
  SmallVector<Shown> shown;
  llvm::Value *own = digitOf(digit);
  for (unsigned number = 0; number < scan.until.size(); ++number) {
    layout::Layout::Vector at = scan.layout.at({{layout::Register, number}});
    at[axis] /= digit.step * digit.extent;
    auto [found, isNew] = lines.try_emplace(at, shown.size());
    lineOf.push_back(found->second);
    if (!isNew)
      continue;
    llvm::Value *line = i32(0);
    for (unsigned d = 0; d < scan.layout.outputs().size(); ++d) {
      llvm::Value *coordinate = emitCoordinate(b, scan.layout, d, placeOf(number));
      int64_t each = d == axis ? digit.step * digit.extent : 1;
      line = b.CreateAdd(b.CreateMul(line, i32(scan.layout.outputs()[d].extent / each)), b.CreateUDiv(coordinate, i32(each)));
    }
    shown.push_back({b.CreateMul(line, i32(count)), scan.total[number]});
  }
  int64_t values = valuesBetweenWarps(scan.layout, axis, /*scans=*/true);
  auto all = showWarps(shown, elementsOf(scan.op.getOperands()), values, own, count);
  llvm::Value *isLater = b.CreateICmpNE(own, i32(scan.order(0, count)));
  std::vector<std::pair<Parts, Parts>> found; // of each line: what is before this warp, what all come to
  for (SmallVector<Parts> &warps : all) {
    Parts running = warps[scan.order(0, count)], before = running;
    for (unsigned i = 1; i < count; ++i) {
      for (auto [value, sum] : llvm::zip_equal(before, running))
        value = b.CreateSelect(b.CreateICmpEQ(own, i32(scan.order(i, count))), sum, value);
      combine(scan.op.getCombine(), running, warps[scan.order(i, count)]);
    }
    found.push_back({before, running});
  }
  for (unsigned number = 0; number < scan.until.size(); ++number) {
    putBefore(scan, found[lineOf[number]].first, isLater, scan.until[number]);
    scan.total[number] = found[lineOf[number]].second;
  }
}

void BlockEmitter::emitScan(tile::ScanOp op) {
  auto digits = linesOf(op, op.getAxis());
  if (!digits)
    return;
  prepare(op);
  Scanned scan{op, block::layoutOf(op.getOperand(0).getType()).getLayout()};
  for (Value operand : op.getOperands()) {
    Parts parts = partsOf(operand);
    scan.until.resize(parts.size());
    for (auto [until, part] : llvm::zip_equal(scan.until, parts))
      until.push_back(part);
  }
  scan.total = scan.until;
  for (const LineDigit &digit : *digits) // from neighbours on
    digit.axis == layout::Register ? scanRegisters(scan, digit)
    : digit.axis == layout::Lane   ? scanLanes(scan, digit)
                                   : scanWarps(scan, digit);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Parts parts;
    for (Parts &until : scan.until)
      parts.push_back(until[i]);
    remember(result, std::move(parts));
  }
}

} // namespace tilery::cuda
