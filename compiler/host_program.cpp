#include "compiler/host_program.h"
#include "tilery/dtype.h"
#include "tilery/host.h"

using namespace mlir;

namespace tilery {
namespace {

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.isInteger() ? type.getIntOrFloatBitWidth() : 64; }

class HostCompiler {
public:
  HostCompiler(tile::HostOp host, ArrayRef<KernelInfo> kernels) : host(host), kernels(kernels) {}

  FailureOr<std::string> run() {
    StringRef name = host.getSymName();
    name.consume_back("_host"); // messages name the program as its kernel
    program.name = name.str();
    for (auto [index, argument] : llvm::enumerate(host.getBody().getArguments())) {
      if (failed(parameter(argument, index)))
        return failure();
    }
    program.tensors = program.parameters.size();
    for (Operation &op : host.getBody().front())
      if (failed(visit(&op)))
        return failure();
    return program.serialize();
  }

private:
  LogicalResult parameter(BlockArgument argument, size_t index) {
    DictionaryAttr attributes = host.getArgAttrs() ? cast<DictionaryAttr>((*host.getArgAttrs())[index]) : DictionaryAttr();
    auto text = [&](StringRef name) { return attributes ? attributes.getAs<StringAttr>(name) : StringAttr(); };
    HostParameter parameter;
    parameter.name = text("tile.name") ? text("tile.name").str() : "argument " + std::to_string(index);
    auto tensor = dyn_cast<tile::TensorArgType>(argument.getType());
    parameter.rank = tensor ? int32_t(tensor.getRank()) : -1;
    auto dtype = dtypeOf(tensor ? tensor.getElementType() : argument.getType(), text("tile.dtype"));
    if (!dtype)
      return host.emitError("parameter '") << parameter.name << "' has a type that calls cannot pass: " << argument.getType();
    parameter.dtype = *dtype;
    program.parameters.push_back(parameter);
    if (tensor)
      tensors[argument] = int64_t(index);
    else
      emit(HostOp::Scalar, {define(argument), int64_t(index)});
    return success();
  }

  /// The name, where one is given, knows signedness and booleans; the type alone means signed integers.
  static std::optional<DType> dtypeOf(Type type, StringAttr name) {
    if (name)
      return parseDType(name.getValue());
    std::string text;
    llvm::raw_string_ostream(text) << type;
    if (text == "f8E4M3FN")
      return DType::F8E4M3;
    if (text == "f8E5M2")
      return DType::F8E5M2;
    return parseDType(text == "i1" ? "bool" : text);
  }

  int64_t define(Value value) {
    registers[value] = program.registers;
    return program.registers++;
  }
  int64_t use(Value value) { return registers.at(value); }
  void emit(HostOp op, ArrayRef<int64_t> operands) {
    program.code.push_back(int64_t(op));
    program.code.insert(program.code.end(), operands.begin(), operands.end());
  }
  LogicalResult binary(Operation *op, HostOp code, bool isUnsigned = false) {
    int64_t lhs = use(op->getOperand(0)), rhs = use(op->getOperand(1));
    unsigned width = widthOf(op->getOperand(0).getType());
    if (isUnsigned && width < 64) { // registers hold sign-extended values
      lhs = extended(lhs, width), rhs = extended(rhs, width);
    }
    int64_t result = define(op->getResult(0));
    emit(code, {result, lhs, rhs});
    wrap(op->getResult(0));
    return success();
  }
  int64_t extended(int64_t from, unsigned width) {
    emit(HostOp::ZeroExtend, {program.registers, from, width});
    return program.registers++;
  }
  /// Values narrower than a register are kept sign-extended (i1: 0 or 1).
  void wrap(Value value) {
    if (unsigned width = widthOf(value.getType()); width < 64)
      emit(width == 1 ? HostOp::ZeroExtend : HostOp::SignExtend, {use(value), use(value), width});
  }
  LogicalResult compare(arith::CmpIOp op) {
    using P = arith::CmpIPredicate;
    auto swapped = [&](HostOp code, bool isUnsigned) {
      int64_t lhs = use(op.getLhs()), rhs = use(op.getRhs());
      if (unsigned width = widthOf(op.getLhs().getType()); isUnsigned && width < 64)
        lhs = extended(lhs, width), rhs = extended(rhs, width);
      emit(code, {define(op.getResult()), rhs, lhs});
      return success();
    };
    switch (op.getPredicate()) {
    case P::eq:
      return binary(op, HostOp::Equal);
    case P::ne:
      return binary(op, HostOp::NotEqual);
    case P::slt:
      return binary(op, HostOp::Less);
    case P::sle:
      return binary(op, HostOp::LessEqual);
    case P::ult:
      return binary(op, HostOp::LessUnsigned, true);
    case P::ule:
      return binary(op, HostOp::LessEqualUnsigned, true);
    case P::sgt:
      return swapped(HostOp::Less, false);
    case P::sge:
      return swapped(HostOp::LessEqual, false);
    case P::ugt:
      return swapped(HostOp::LessUnsigned, true);
    case P::uge:
      return swapped(HostOp::LessEqualUnsigned, true);
    }
    return failure();
  }
  LogicalResult constant(arith::ConstantOp op) {
    int64_t bits;
    if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
      bits = op.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue()) : integer.getValue().getSExtValue();
    else if (auto number = dyn_cast<FloatAttr>(op.getValue()))
      bits = int64_t(number.getValue().bitcastToAPInt().getZExtValue());
    else
      return op.emitError("host functions have no such constant");
    emit(HostOp::Constant, {define(op.getResult()), bits});
    return success();
  }
  LogicalResult cast_(Operation *op, bool isSigned) {
    Value from = op->getOperand(0);
    unsigned width = std::min(widthOf(from.getType()), widthOf(op->getResult(0).getType()));
    int64_t source = use(from); // first: the result's register must not be it
    bool toBool = op->getResult(0).getType().isInteger(1);
    emit(isSigned && !toBool ? HostOp::SignExtend : HostOp::ZeroExtend, {define(op->getResult(0)), source, width});
    return success();
  }
  LogicalResult launch(tile::LaunchOp op) {
    const KernelInfo *kernel = llvm::find_if(kernels, [&](const KernelInfo &info) { return info.name == op.getKernel(); });
    if (kernel == kernels.end())
      return op.emitError("there is no kernel ") << op.getKernel();
    if (op.getGrid().empty() || op.getGrid().size() > 3)
      return op.emitError("a grid has one to three extents, not ") << op.getGrid().size();
    if (op.getArgs().size() != kernel->args.size())
      return op.emitError("kernel ") << op.getKernel() << " takes " << kernel->args.size() << " arguments, not "
                                     << op.getArgs().size();
    std::vector<int64_t> operands{int64_t(kernel - kernels.begin()), int64_t(op.getGrid().size())};
    for (Value extent : op.getGrid())
      operands.push_back(use(extent));
    operands.push_back(int64_t(op.getArgs().size()));
    for (Value argument : op.getArgs()) {
      auto pointer = argument.getDefiningOp<tile::HostPointerOp>();
      operands.insert(operands.end(), {use(argument), pointer ? tensors.at(pointer.getTensor()) : -1});
    }
    emit(HostOp::Launch, operands);
    return success();
  }
  LogicalResult empty(tile::HostEmptyOp op) {
    auto type = cast<tile::TensorArgType>(op.getResult().getType());
    auto dtype = dtypeOf(type.getElementType(), op->getAttrOfType<StringAttr>("tile.dtype"));
    if (!dtype)
      return op.emitError("tensors cannot have elements of type ") << type.getElementType();
    int64_t number = program.tensors++;
    tensors[op.getResult()] = number;
    std::vector<int64_t> operands{number, int64_t(*dtype), op.getWorkspace(), type.getRank()};
    for (Value extent : op.getExtents())
      operands.push_back(use(extent));
    emit(HostOp::Empty, operands);
    return success();
  }
  LogicalResult divide(Operation *op, tile::IntDivMode mode, HostOp trunc, HostOp floor, HostOp isUnsigned) {
    if (mode == tile::IntDivMode::unsigned_)
      return binary(op, isUnsigned, true);
    return binary(op, mode == tile::IntDivMode::floor ? floor : trunc);
  }

  LogicalResult visit(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](arith::ConstantOp op) { return constant(op); })
        .Case([&](arith::AddIOp op) { return binary(op, HostOp::Add); })
        .Case([&](arith::SubIOp op) { return binary(op, HostOp::Sub); })
        .Case([&](arith::MulIOp op) { return binary(op, HostOp::Mul); })
        .Case([&](arith::MinSIOp op) { return binary(op, HostOp::MinSigned); })
        .Case([&](arith::MaxSIOp op) { return binary(op, HostOp::MaxSigned); })
        .Case([&](arith::MinUIOp op) { return binary(op, HostOp::MinUnsigned, true); })
        .Case([&](arith::MaxUIOp op) { return binary(op, HostOp::MaxUnsigned, true); })
        .Case([&](arith::AndIOp op) { return binary(op, HostOp::And); })
        .Case([&](arith::OrIOp op) { return binary(op, HostOp::Or); })
        .Case([&](arith::XOrIOp op) { return binary(op, HostOp::Xor); })
        .Case([&](tile::DivOp op) { return divide(op, op.getMode(), HostOp::DivTrunc, HostOp::DivFloor, HostOp::DivUnsigned); })
        .Case([&](tile::RemOp op) { return divide(op, op.getMode(), HostOp::RemTrunc, HostOp::RemFloor, HostOp::RemUnsigned); })
        .Case([&](arith::CmpIOp op) { return compare(op); })
        .Case([&](arith::SelectOp op) {
          std::vector<int64_t> operands{use(op.getCondition()), use(op.getTrueValue()), use(op.getFalseValue())};
          operands.insert(operands.begin(), define(op.getResult()));
          emit(HostOp::Select, operands);
          return success();
        })
        .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>([&](auto op) { return cast_(op, true); })
        .Case([&](arith::ExtUIOp op) { return cast_(op, false); })
        .Case([&](tile::HostExtentOp op) {
          return emit(HostOp::Extent, {define(op.getResult()), tensors.at(op.getTensor()), int64_t(op.getDim())}), success();
        })
        .Case([&](tile::HostStrideOp op) {
          return emit(HostOp::Stride, {define(op.getResult()), tensors.at(op.getTensor()), int64_t(op.getDim())}), success();
        })
        .Case([&](tile::HostPointerOp op) {
          return emit(HostOp::Pointer, {define(op.getResult()), tensors.at(op.getTensor())}), success();
        })
        .Case([&](tile::HostCheckOp op) {
          program.texts.push_back(op.getMessage().str());
          return emit(HostOp::Check, {use(op.getLhs()), use(op.getRhs()), int64_t(program.texts.size()) - 1, op.getAssumption()}),
                 success();
        })
        .Case([&](tile::HostEmptyOp op) { return empty(op); })
        .Case([&](tile::LaunchOp op) { return launch(op); })
        .Case([&](tile::ReturnOp op) {
          std::vector<int64_t> operands{int64_t(op.getNumOperands())};
          for (Value output : op.getOperands())
            operands.push_back(tensors.at(output));
          return emit(HostOp::Return, operands), success();
        })
        .Default([](Operation *op) { return op->emitError("host functions cannot compute ") << op->getName().getStringRef(); });
  }

  tile::HostOp host;
  ArrayRef<KernelInfo> kernels;
  HostProgram program;
  llvm::DenseMap<Value, int64_t> registers, tensors;
};
} // namespace

FailureOr<std::string> compileHost(ModuleOp module, ArrayRef<KernelInfo> kernels) {
  auto hosts = module.getOps<tile::HostOp>();
  if (hosts.empty())
    return std::string();
  return HostCompiler(*hosts.begin(), kernels).run();
}
} // namespace tilery
