// Of programs that have too few rows for the tensor cores, so many become one as there are rows missing:
//
//   i = program 0 * 32 + range(0, 32); store(y + i * s, f(load(x + i * s)))
// becomes, with half as many programs on the axis,
//   p = program 0 * 2; i = p * 32 + range(0, 64); .. only rows below (programs 0 - p) * 32
//
// That is right where nothing but places of rows tells programs of the axis apart: each integer that the program's number leads to counts
// rows through (n * lanes + lane), and no lane is told by its number alone or combined with lanes of the same column.
#include "compiler/block/passes/join_programs.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/block/recognise/kernel_work.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::IndexPolynomial;
using analysis::polynomialOf;

class JoinedPrograms {
public:
  JoinedPrograms(tile::KernelOp kernel, const DimensionPadding &rows, unsigned axis) : kernel(kernel), rows(rows) {
    kernel.walk([&](tile::ProgramIdOp op) {
      if (op.getAxis() == axis)
        ids.insert(op);
    });
  }

  bool areAlike() {
    return ids.size() == 1 && hasPlainEffects() && follow() &&
           llvm::all_of(rows.ops(), [&](Operation *op) { return isOfRows(op) && !losesItsBox(op); });
  }
  tile::ProgramIdOp id() const { return cast<tile::ProgramIdOp>(ids[0]); }

private:
  /// Loads of memory that the kernel does not write, and stores of such rows.
  bool hasPlainEffects() {
    SmallVector<Value> stored = storedPlaces(kernel);
    return !kernel
                .walk([&](Operation *op) {
                  if (op == kernel || op->getNumRegions() || isMemoryEffectFree(op))
                    return WalkResult::advance();
                  auto load = dyn_cast<tile::LoadOp>(op);
                  auto store = dyn_cast<tile::StoreOp>(op);
                  bool isPlain = (load && !load.getIsVolatile() && isApart(load, stored)) ||
                                 (store && !store.getIsVolatile() && rows.dimsOf(store.getValue()).size() == 1);
                  return isPlain ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// Whatever numbers come of the program's are parts of places, or of tiles that count rows.
  bool follow() {
    numbers.insert(id().getResult());
    for (size_t i = 0; i < numbers.size(); ++i)
      for (Operation *user : numbers[i].getUsers())
        if (!isUse(user))
          return false;
    return true;
  }

  bool isUse(Operation *user) {
    if (isa<tile::SplatOp>(user))
      return llvm::all_of(user->getUsers(), [&](Operation *sum) { return isa<arith::AddIOp>(sum) && countsRows(sum); });
    if (isa<tile::AccessOp>(user)) // looked at with what it is the place of
      return llvm::all_of(user->getUsers(), [&](Operation *each) { return llvm::is_contained(rows.ops(), each); });
    if (isa<tile::DotOp>(user)) // it tells which elements are of use
      return true;
    bool isNumber = user->getNumResults() == 1 && user->getResult(0).getType().isIntOrIndex() && !user->getNumRegions() &&
                    isMemoryEffectFree(user) && !isa<tile::TileDialect>(user->getDialect());
    return isNumber && (numbers.insert(user->getResult(0)), true);
  }

  bool isFree(const IndexPolynomial &polynomial) const {
    return polynomial.all([&](Value atom) {
      return !numbers.contains(atom) && !atom.getDefiningOp<tile::RangeOp>() && !isa<RankedTensorType>(atom.getType());
    });
  }

  /// `by` a lane, and as many times that a program as it has lanes.
  bool goesOn(const IndexPolynomial &polynomial, const IndexPolynomial &by) {
    IndexPolynomial rest, perProgram = polynomial.coefficient(id().getResult(), rest);
    return isFree(by) && isFree(rest) && perProgram == by * IndexPolynomial(rows.length());
  }

  /// (Sums of as many bits as the program's number hold nothing that was extended: they wrap as the rows of other programs do.)
  bool countsRows(Operation *sum) {
    bool wrapsAlike = getElementTypeOrSelf(sum->getResult(0)) == id().getType();
    auto wrapping = wrapsAlike ? analysis::Wrapping::any : analysis::Wrapping::none;
    IndexPolynomial polynomial = polynomialOf(sum->getResult(0), wrapping), rest, perLane;
    for (Value operand : sum->getOperands())
      if (auto range = operand.getDefiningOp<tile::RangeOp>();
          range && range.getStart() == 0 && rows.contains(sum->getResult(0), 0)) {
        perLane = polynomial.coefficient(operand, rest);
        counts.insert(sum);
        return goesOn(rest, perLane);
      }
    return false;
  }

  bool isOfRows(Operation *op) {
    if (isa<tile::ExtractOp, tile::ScanOp, tile::AtomicRmwOp>(op))
      return false;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
      if (rows.dimsOf(value).size() > 1)
        return false;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getDefiningOp<tile::RangeOp>() && !rows.dimsAsked(operand).empty() && !counts.contains(op))
        return false;
    Value at = isa<tile::LoadOp>(op) ? op->getResult(0) : isa<tile::StoreOp>(op) ? op->getOperand(1) : Value();
    auto access = at ? op->getOperand(0).getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    return !access || isPlaceOfRows(access, rows.dimsOf(at)[0]);
  }

  bool isPlaceOfRows(tile::AccessOp access, unsigned dim) {
    auto usesNumber = [&](Value value) { return numbers.contains(value); };
    if (llvm::any_of(access.getSteps(), usesNumber) || (access.getResidual() && numbers.contains(access.getResidual())))
      return false;
    for (unsigned d = 0; d < access.getSteps().size(); ++d)
      if (d != dim && llvm::any_of(access.getBound(d), usesNumber))
        return false;
    OperandRange bound = access.getBound(dim);
    if (bound.size() == 2 && !isEdge(bound[0], false))
      return false;
    if (bound.size() == 2 && !isEdge(bound[1], true))
      return false;
    Value step = access.getSteps()[dim];
    IndexPolynomial offset = polynomialOf(access.getOffset());
    if (isa<RankedTensorType>(step.getType())) // it tells rows by what they hold
      return !step.getDefiningOp<tile::RangeOp>() && isFree(offset);
    return goesOn(offset, polynomialOf(step));
  }

  /// A load that ends at a row of its own ends at the launch's last program, too: of two bounds there is no box. Threads load a first factor
  /// that stays for all steps, and what is no factor.
  bool losesItsBox(Operation *op) const {
    auto load = dyn_cast<tile::LoadOp>(op);
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access || !isa<RankedTensorType>(load.getType()) || access.getBound(rows.dimsOf(load.getResult())[0]).size() != 2)
      return false;
    auto isFactor = [&](Value tile) {
      return llvm::any_of(tile.getUsers(), [&](Operation *user) {
        auto dot = dyn_cast<tile::DotOp>(user);
        return dot && (tile == dot.getB() || load->getParentOp() != kernel);
      });
    };
    return isFactor(load) || llvm::any_of(load->getUsers(), [&](Operation *user) {
             return isa<tile::PermuteOp>(user) && isFactor(user->getResult(0));
           });
  }

  /// It lies before the same row in all programs: so many lanes fewer a program. Below their first lane all have the same.
  bool isEdge(Value number, bool isEnd) {
    std::optional<int64_t> constant = analysis::constantOf(number);
    return (!isEnd && constant && *constant <= 0) || goesOn(polynomialOf(number), IndexPolynomial(-1));
  }

  tile::KernelOp kernel;
  const DimensionPadding &rows;
  llvm::SetVector<Operation *> ids;
  llvm::SetVector<Value> numbers;     // that come of the program's
  llvm::DenseSet<Operation *> counts; // sums that count rows
};

/// Rows from the first of the program's on that programs of the launch have.
Value rowsOfLaunch(OpBuilder &b, Location location, Value id, unsigned axis, int64_t lanes) {
  auto wide = [&](Value number) { return arith::ExtSIOp::create(b, location, b.getI64Type(), number).getResult(); };
  Value left = arith::SubIOp::create(b, location, wide(tile::NumProgramsOp::create(b, location, axis)), wide(id));
  Value each = arith::ConstantOp::create(b, location, b.getI64IntegerAttr(lanes));
  return arith::MulIOp::create(b, location, left, each, arith::IntegerOverflowFlags::nsw);
}
} // namespace

bool joinPrograms(tile::KernelOp kernel, DimensionPadding &rows, int64_t to) {
  if (kernel->hasAttr(joinedPrograms) || rows.combinesLanes() || to % rows.length())
    return false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    JoinedPrograms programs(kernel, rows, axis);
    if (!programs.areAlike())
      continue;
    tile::ProgramIdOp id = programs.id();
    int64_t count = to / rows.length();
    Location location = id.getLoc();
    OpBuilder b(kernel.getContext());
    id->moveBefore(&kernel.getBody().front(), kernel.getBody().front().begin());
    b.setInsertionPointAfter(id);
    Value times = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(int32_t(count)));
    auto first = arith::MulIOp::create(b, location, id, times, arith::IntegerOverflowFlags::nsw);
    id.getResult().replaceAllUsesExcept(first, first);
    kernel.walk([](tile::DotOp dot) { dot.getLiveMutable().clear(); });
    rows.lengthen(to, rowsOfLaunch(b, location, first, axis, rows.length()));
    kernel->setAttr(joinedPrograms, b.getDenseI64ArrayAttr({axis, count}));
    return true;
  }
  return false;
}

} // namespace tilery::block
