// Positions, errors, types, kernels.
#include "compiler/builder/impl.h"
#include "compiler/ir/hints.h"
#include "compiler/ir/rounds_each.h"
#include "compiler/builder/own_buffers.h"
#include "compiler/source_chain.h"

namespace tilery {
using mlir::cast;
using mlir::dyn_cast;

std::string shapeText(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string Type::str() const {
  std::string text = dtypeName(element);
  if (pointer)
    text = "pointer<" + text + ">";
  return shape.empty() ? text : text + shapeText(shape);
}

Builder::Impl::Impl(Builder &self, Policy policy)
    : self(self), policy(policy), module(std::make_unique<Module::Impl>()), b(&module->context) {
  module->module = mlir::ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->module->getBody());
}

Builder::Builder(Policy policy) : impl(std::make_unique<Impl>(*this, policy)) {}
Builder::~Builder() = default;
Policy Builder::policy() const { return impl->policy; }
bool Builder::checkOverflow(bool on) { return std::exchange(impl->checksOverflow, on); }
bool Builder::fastMath(bool on) { return std::exchange(impl->fastMath, on); }
void Builder::roundEach() { impl->module->module.get()->setAttr(tile::roundsEachName, impl->b.getUnitAttr()); }
void Builder::setLocationProvider(std::function<std::vector<SourceLocation>()> provider) { impl->provider = std::move(provider); }

void Builder::fail(Diagnostic::Kind kind, std::string message, std::string hint) {
  Diagnostic diagnostic{kind, std::move(message), std::move(hint)};
  if (impl->provider)
    diagnostic.chain = impl->provider();
  throw Error(std::move(diagnostic));
}

static mlir::Location toLocation(mlir::MLIRContext *context, const SourceLocation &where) {
  mlir::Location position = mlir::FileLineColLoc::get(context, where.file, where.line, where.col);
  if (where.function.empty())
    return position;
  return mlir::NameLoc::get(mlir::StringAttr::get(context, where.function), position);
}

mlir::Location Builder::Impl::loc() {
  if (!provider)
    return b.getUnknownLoc();
  std::vector<SourceLocation> chain = provider();
  if (chain.empty())
    return b.getUnknownLoc();
  mlir::Location where = toLocation(b.getContext(), chain.back());
  for (size_t i = chain.size() - 1; i-- > 0;)
    where = mlir::CallSiteLoc::get(toLocation(b.getContext(), chain[i]), where);
  return where;
}

std::vector<SourceLocation> Builder::whereDefined(const Value &value) const {
  return value ? sourceChain(toMlir(value.handle).getLoc()) : std::vector<SourceLocation>();
}

mlir::Type Builder::Impl::elementType(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3:
    return mlir::Float8E4M3FNType::get(b.getContext());
  case DType::F8E5M2:
    return mlir::Float8E5M2Type::get(b.getContext());
  case DType::F16:
    return b.getF16Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F32:
    return b.getF32Type();
  case DType::F64:
    return b.getF64Type();
  default:
    return b.getIntegerType(bitWidth(dtype));
  }
}

mlir::Type Builder::Impl::lower(const Type &type) {
  mlir::Type element = type.pointer ? mlir::Type(tile::PtrType::get(b.getContext(), memoryType(type.element), type.isConst))
                                    : elementType(type.element);
  return tile::tileOf(type.shape, element);
}

Value Builder::Impl::wrap(mlir::Value value, DType dtype) const {
  llvm::ArrayRef<int64_t> shape = tile::shapeOf(value.getType());
  return {value.getAsOpaquePointer(), Type{dtype, Shape(shape.begin(), shape.end())}};
}
Value Builder::Impl::wrapPointer(mlir::Value value, DType pointee, bool isConst) const {
  Value result = wrap(value, pointee);
  result.type.pointer = true;
  result.type.isConst = isConst;
  return result;
}

bool Builder::dependsOn(const Value &value, const Value &other) const {
  llvm::SmallVector<mlir::Value> work{toMlir(value.handle)};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value next = work.pop_back_val();
    if (next == toMlir(other.handle))
      return true;
    if (mlir::Operation *op = next.getDefiningOp(); op && seen.insert(next).second && mlir::isPure(op))
      work.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

bool Builder::visible(const Value &value) const {
  mlir::Block *home = toMlir(value.handle).getParentBlock();
  for (mlir::Block *block = impl->b.getInsertionBlock(); block;) {
    if (block == home)
      return true;
    mlir::Operation *parent = block->getParentOp();
    block = parent ? parent->getBlock() : nullptr;
  }
  return false;
}

mlir::Value Builder::Impl::raw(const Value &value) {
  if (!value)
    self.fail(Diagnostic::Kind::Runtime, "a value that was never built is used here");
  if (!self.visible(value)) {
    std::string where;
    if (auto chain = self.whereDefined(value); !chain.empty())
      where = " (it was made at " + chain.front().file + ":" + std::to_string(chain.front().line) + ")";
    self.fail(Diagnostic::Kind::Name, "this value exists only inside the loop or branch that made it" + where,
              spelling().carried);
  }
  return toMlir(value.handle);
}
std::vector<mlir::Value> Builder::Impl::raw(const std::vector<Value> &values) {
  std::vector<mlir::Value> result;
  for (const Value &value : values)
    result.push_back(raw(value));
  return result;
}

std::vector<Value> Builder::beginKernel(const std::string &name, const std::vector<Param> &params) {
  auto &b = impl->b;
  llvm::SmallVector<mlir::Type> types;
  for (const Param &param : params)
    types.push_back(impl->lower(param.type));
  auto kernel = impl->create<tile::KernelOp>(name, b.getFunctionType(types, {}));
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const Param &param : params) {
    llvm::SmallVector<mlir::NamedAttribute> entries{b.getNamedAttr("tile.name", b.getStringAttr(param.name))};
    if (param.divisibility != 1)
      entries.push_back(b.getNamedAttr("tile.divisibility", b.getI64IntegerAttr(param.divisibility)));
    attributes.push_back(b.getDictionaryAttr(entries));
  }
  kernel.setArgAttrsAttr(b.getArrayAttr(attributes));
  impl->frames.push_back({kernel, b.saveInsertionPoint(), nullptr, {}, {}});
  b.setInsertionPointToStart(&kernel.getBody().front());
  std::vector<Value> values;
  for (size_t i = 0; i < params.size(); ++i)
    values.push_back(impl->like(kernel.getBody().getArgument(i), params[i].type));
  return values;
}

void Builder::Impl::addHint(mlir::Operation *op, const std::string &name, const Hint &hint) {
  if (!llvm::is_contained(tile::hintNames(), name))
    self.fail(Diagnostic::Kind::Value, "there is no hint named `" + name + "`");
  const bool *flag = std::get_if<bool>(&hint);
  op->setDiscardableAttr("tile." + name,
                         flag ? mlir::Attribute(b.getBoolAttr(*flag)) : b.getI64IntegerAttr(std::get<int64_t>(hint)));
}

void Builder::hintKernel(const std::string &name, const Hint &value) {
  auto open =
      llvm::find_if(impl->frames, [](const Impl::Frame &frame) { return llvm::isa_and_present<tile::KernelOp>(frame.op); });
  if (open == impl->frames.end())
    fail(Diagnostic::Kind::Runtime, "there is no open kernel");
  impl->addHint(open->op, name, value);
}

Builder::Impl::Frame &Builder::Impl::top(llvm::StringRef what) {
  if (frames.empty() || !frames.back().op)
    self.fail(Diagnostic::Kind::Runtime, ("there is no open " + what).str());
  return frames.back();
}

void Builder::endKernel() {
  auto kernel = cast<tile::KernelOp>(impl->top("kernel").op);
  impl->create<tile::ReturnOp>();
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
  markIndexArithmetic(kernel);
  splitIntoPhases(kernel);
}

std::shared_ptr<Module> Builder::finish() {
  std::string messages;
  mlir::LogicalResult verified = mlir::success();
  {
    mlir::ScopedDiagnosticHandler handler(&impl->module->context, [&](mlir::Diagnostic &diagnostic) {
      messages += diagnostic.str() + "; ";
      return mlir::success();
    });
    verified = mlir::verify(*impl->module->module);
  }
  if (failed(verified))
    fail(Diagnostic::Kind::Runtime, "the program could not be translated: " + messages);
  divideLocalBuffers(*impl->module->module);
  auto result = std::make_shared<Module>(std::move(impl->module));
  impl = std::make_unique<Impl>(*this, impl->policy);
  return result;
}

} // namespace tilery
