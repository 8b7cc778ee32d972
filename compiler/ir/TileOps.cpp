// Generated op definitions, functions' text form, effects. Verifiers: Verify*.cpp.
#include "compiler/ir/Tile.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tilery::tile;

// "(i64, i64)", which may be empty: MLIR's own type lists may not.
static ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] { return parser.parseType(types.emplace_back()); });
}
static void printTypes(OpAsmPrinter &printer, Operation *, TypeRange types) { printer << "(" << types << ")"; }

#define GET_OP_CLASSES
#include "compiler/ir/TileOps.cpp.inc"

template <typename Op> static ParseResult parseFunction(OpAsmParser &parser, OperationState &state) {
  auto build = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, state, false, Op::getFunctionTypeAttrName(state.name), build,
                                                  Op::getArgAttrsAttrName(state.name), Op::getResAttrsAttrName(state.name));
}
template <typename Op> static void printFunction(Op op, OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, op, false, op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
                                           op.getResAttrsAttrName());
}
template <typename Op> static void buildFunction(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(Op::getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block &block = state.addRegion()->emplaceBlock();
  for (Type input : type.getInputs())
    block.addArgument(input, state.location);
}
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) { return parseFunction<KernelOp>(parser, state); }
void KernelOp::print(OpAsmPrinter &printer) { printFunction(*this, printer); }
void KernelOp::build(OpBuilder &b, OperationState &s, StringRef name, FunctionType type) {
  buildFunction<KernelOp>(b, s, name, type);
}
ParseResult HostOp::parse(OpAsmParser &parser, OperationState &state) { return parseFunction<HostOp>(parser, state); }
void HostOp::print(OpAsmPrinter &printer) { printFunction(*this, printer); }
void HostOp::build(OpBuilder &b, OperationState &s, StringRef name, FunctionType type) {
  buildFunction<HostOp>(b, s, name, type);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
static void addVolatileEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  for (SideEffects::Resource *resource :
       {(SideEffects::Resource *)GlobalMemory::get(), (SideEffects::Resource *)BufferMemory::get(),
        (SideEffects::Resource *)Synchronisation::get(), (SideEffects::Resource *)InputOutput::get()})
    effects.emplace_back(MemoryEffects::Write::get(), resource);
}
void LoadOp::getEffects(Effects &effects) {
  if (getIsVolatile())
    return addVolatileEffects(effects);
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
}
void StoreOp::getEffects(Effects &effects) {
  if (getIsVolatile())
    return addVolatileEffects(effects);
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

OperandRange AccessOp::getBound(unsigned dim) {
  unsigned first = 0;
  for (unsigned d = 0; d < dim; ++d)
    first += getBoundKinds()[d] == 1 ? 2 : getBoundKinds()[d] == 2 ? 1 : 0;
  return getBounds().slice(first, getBoundKinds()[dim] == 1 ? 2 : getBoundKinds()[dim] == 2 ? 1 : 0);
}
