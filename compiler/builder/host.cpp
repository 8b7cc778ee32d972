// The host function: what a call checks, binds, allocates and launches.
#include "compiler/builder/impl.h"

namespace tilery {

std::vector<Builder::HostArg> Builder::beginHost(const std::string &name, const std::vector<HostParam> &params) {
  auto &b = impl->b;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const HostParam &param : params) {
    mlir::Type element = param.rank < 0 ? impl->elementType(param.dtype) : impl->memoryType(param.dtype);
    types.push_back(param.rank < 0 ? element : mlir::Type(tile::TensorArgType::get(b.getContext(), param.rank, element)));
    attributes.push_back(b.getDictionaryAttr({b.getNamedAttr("tile.name", b.getStringAttr(param.name)),
                                              b.getNamedAttr("tile.dtype", b.getStringAttr(dtypeName(param.dtype)))}));
  }
  auto host = impl->create<tile::HostOp>(name, b.getFunctionType(types, {}));
  host.setArgAttrsAttr(b.getArrayAttr(attributes));
  impl->frames.push_back({host, b.saveInsertionPoint(), nullptr, {}, {}});
  b.setInsertionPointToStart(&host.getBody().front());
  std::vector<HostArg> args;
  for (size_t i = 0; i < params.size(); ++i) {
    mlir::Value value = host.getBody().getArgument(i);
    args.push_back(params[i].rank < 0 ? HostArg{{}, impl->wrap(value, params[i].dtype)}
                                      : HostArg{{value.getAsOpaquePointer(), params[i].dtype, params[i].rank}, {}});
  }
  return args;
}
static mlir::Value tensorOf(Builder &self, const TensorArg &tensor, int64_t dim) {
  if (dim < 0 || dim >= tensor.rank)
    self.fail(Diagnostic::Kind::Index,
              "dimension " + std::to_string(dim) + " is outside a tensor of rank " + std::to_string(tensor.rank));
  return toMlir(tensor.handle);
}
Value Builder::hostExtent(const TensorArg &tensor, int64_t dim) {
  return impl->wrap(impl->create<tile::HostExtentOp>(tensorOf(*this, tensor, dim), dim), DType::I64);
}
Value Builder::hostStride(const TensorArg &tensor, int64_t dim) {
  return impl->wrap(impl->create<tile::HostStrideOp>(tensorOf(*this, tensor, dim), dim), DType::I64);
}
Value Builder::hostPointer(const TensorArg &tensor) {
  Type type{tensor.dtype, {}, true};
  return impl->like(impl->create<tile::HostPointerOp>(impl->lower(type), toMlir(tensor.handle)), type);
}
void Builder::hostCheck(const Value &lhs, const Value &rhs, const std::string &message, bool assumption) {
  impl->create<tile::HostCheckOp>(impl->index(lhs), impl->index(rhs), message, assumption);
}
TensorArg Builder::hostEmpty(const std::vector<Value> &extents, DType dtype, bool workspace) {
  auto type = tile::TensorArgType::get(impl->b.getContext(), extents.size(), impl->memoryType(dtype));
  auto op = impl->create<tile::HostEmptyOp>(type, impl->indices(std::vector<Operand>(extents.begin(), extents.end())), workspace);
  op->setAttr("tile.dtype", impl->b.getStringAttr(dtypeName(dtype)));
  return {op.getResult().getAsOpaquePointer(), dtype, int64_t(extents.size())};
}
void Builder::launch(const std::string &kernel, const std::vector<Value> &grid, const std::vector<Value> &args) {
  impl->create<tile::LaunchOp>(kernel, impl->indices(std::vector<Operand>(grid.begin(), grid.end())), impl->raw(args));
}
void Builder::endHost(const std::vector<TensorArg> &outputs) {
  auto host = mlir::cast<tile::HostOp>(impl->top("host function").op);
  std::vector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> types;
  for (const TensorArg &output : outputs) {
    values.push_back(toMlir(output.handle));
    types.push_back(values.back().getType());
  }
  impl->create<tile::ReturnOp>(mlir::ValueRange(values));
  host.setFunctionType(impl->b.getFunctionType(host.getArgumentTypes(), types));
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
}

} // namespace tilery
