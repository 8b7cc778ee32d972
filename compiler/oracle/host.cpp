// Ops of TileHost.td.
#include "compiler/ir/dtype_of.h"
#include "compiler/oracle/interpreter.h"
#include "compiler/oracle/unwritten.h"

using namespace mlir;

namespace tilery::oracle {

static Tile scalar64(int64_t value) {
  Tile result({Format::Int, 64}, {});
  result.lanes[0] = uint64_t(value);
  return result;
}

static void check(Interpreter &in, tile::HostCheckOp op) {
  int64_t lhs = in.decide(op.getLhs()), rhs = in.decide(op.getRhs());
  if (lhs == rhs)
    return;
  std::string message = op.getMessage().str();
  for (auto [mark, value] : {std::pair("{0}", lhs), std::pair("{1}", rhs)})
    for (size_t at; (at = message.find(mark)) != std::string::npos;)
      message.replace(at, 3, std::to_string(value));
  in.fail(op, message, {}, op.getAssumption() ? Diagnostic::Kind::Runtime : Diagnostic::Kind::Value);
}

static void empty(Interpreter &in, tile::HostEmptyOp op) {
  HostTensor tensor;
  int64_t size = 1;
  for (Value extent : op.getExtents())
    tensor.extents.push_back(in.decide(extent));
  if (in.run.options.allocate) {
    auto name = op->getAttrOfType<StringAttr>("tile.dtype"); // it knows signedness
    auto element = cast<tile::TensorArgType>(op.getType()).getElementType();
    return in.set(op.getResult(),
                  in.run.options.allocate(tensor.extents, *(name ? parseDType(name.getValue()) : dtypeOf(element))));
  }
  for (int64_t extent : llvm::reverse(tensor.extents)) {
    tensor.strides.insert(tensor.strides.begin(), size);
    size *= std::max<int64_t>(extent, 1);
  }
  int64_t bytes = size * elementOf(op.getType()).bytes();
  tensor.owned = std::make_shared<std::vector<uint64_t>>((bytes + 7) / 8, 0xCBCBCBCBCBCBCBCB);
  tensor.data = reinterpret_cast<uint64_t>(tensor.owned->data());
  if (in.run.options.debug)
    fillUnwritten(tensor.data, uint64_t(bytes));
  in.set(op.getResult(), std::move(tensor));
}

static std::string nameOf(tile::KernelOp kernel, unsigned argument) {
  auto name = kernel.getArgAttrOfType<StringAttr>(argument, "tile.name");
  return name ? name.str() : "argument " + std::to_string(argument);
}

/// What kernels may touch of a tensor that the host function made.
static Allocation allocation(const HostTensor &tensor, tile::HostEmptyOp op, std::string name) {
  unsigned bytes = elementOf(cast<tile::TensorArgType>(op.getType()).getElementType()).bytes();
  uint64_t count = 1;
  for (int64_t extent : tensor.extents)
    count *= extent;
  return {tensor.data, count * bytes, std::move(name), true, bytes};
}

static void launch(Interpreter &in, tile::LaunchOp op) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(op, op.getKernelAttr());
  std::array<uint32_t, 3> grid{1, 1, 1};
  for (auto [axis, extent] : llvm::enumerate(op.getGrid())) {
    int64_t count = in.decide(extent);
    if (count < 1)
      return;
    grid[axis] = uint32_t(count);
  }
  std::vector<uint64_t> args;
  Options options = in.run.options;
  for (auto [index, argument] : llvm::enumerate(op.getArgs())) {
    args.push_back(in.tile(argument).lanes[0]);
    if (auto pointer = argument.getDefiningOp<tile::HostPointerOp>())
      if (auto made = pointer.getTensor().getDefiningOp<tile::HostEmptyOp>())
        options.allocations.push_back(allocation(in.as<HostTensor>(made.getResult()), made, nameOf(kernel, index)));
  }
  if (options.launch)
    return options.launch(kernel, grid, args);
  runKernel(kernel, grid, args, options);
}

void addHostHandlers(Handlers &table) {
  table.add<tile::HostExtentOp>([](Interpreter &in, tile::HostExtentOp op) {
    in.set(op.getResult(), scalar64(in.as<HostTensor>(op.getTensor()).extents[op.getDim()]));
  });
  table.add<tile::HostStrideOp>([](Interpreter &in, tile::HostStrideOp op) {
    in.set(op.getResult(), scalar64(in.as<HostTensor>(op.getTensor()).strides[op.getDim()]));
  });
  table.add<tile::HostPointerOp>([](Interpreter &in, tile::HostPointerOp op) {
    Tile pointer({Format::Pointer, 64}, {});
    pointer.lanes[0] = in.as<HostTensor>(op.getTensor()).data;
    in.set(op.getResult(), std::move(pointer));
  });
  table.add<tile::HostCheckOp>(check);
  table.add<tile::HostEmptyOp>(empty);
  table.add<tile::LaunchOp>(launch);
}

std::vector<HostArgument> runHost(tile::HostOp host, ArrayRef<HostArgument> args, const Options &options) {
  Run run(options);
  run.numberValues(host);
  Interpreter in(run);
  for (auto [argument, given] : llvm::zip_equal(host.getBody().getArguments(), args)) {
    if (isa<tile::TensorArgType>(argument.getType())) {
      in.set(argument, given.tensor);
      continue;
    }
    Tile value(elementOf(argument.getType()), {});
    value.lanes[0] = value.element.format == Format::Int ? wrap(value.element, given.scalar) : given.scalar;
    in.set(argument, std::move(value));
  }
  Operation *end = in.runBlock(host.getBody().front());
  std::vector<HostArgument> results;
  for (Value operand : end->getOperands()) {
    HostArgument &result = results.emplace_back();
    if (auto *tensor = std::get_if<HostTensor>(&in.get(operand)))
      result.tensor = *tensor;
    else
      result.scalar = in.tile(operand).lanes[0];
  }
  return results;
}

} // namespace tilery::oracle
