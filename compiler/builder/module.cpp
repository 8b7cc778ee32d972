#include "compiler/block/ir/Block.h"
#include "compiler/builder/module_impl.h"
#include "tilery/diagnostic.h"

namespace tilery {

Module::Impl::Impl() {
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::ub::UBDialect>();
  mlir::DialectRegistry others; // loaded where a text has them
  others.insert<block::BlockDialect>();
  context.appendDialectRegistry(others);
}

Module::Module(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Module::~Module() {
  if (abandoned)
    (void)impl.release();
}

static void keepHints(mlir::ModuleOp module, const std::vector<std::string> &names) {
  module.walk([&](mlir::Operation *op) {
    if (mlir::isa<tile::KernelOp, mlir::scf::ForOp>(op))
      for (mlir::NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
        if (!llvm::is_contained(names, attribute.getName().strref().split('.').second))
          op->removeDiscardableAttr(attribute.getName());
  });
}

std::string Module::text(bool locations, const std::optional<std::vector<std::string>> &hints) const {
  std::lock_guard lock(impl->mutex);
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo();
  if (hints) {
    mlir::OwningOpRef<mlir::ModuleOp> bare = impl->module->clone();
    keepHints(*bare, *hints);
    bare->print(stream, flags);
  } else {
    impl->module->print(stream, flags);
  }
  return text;
}

std::shared_ptr<Module> Module::parse(const std::string &text) {
  auto impl = std::make_unique<Impl>();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&impl->context, [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  impl->module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&impl->context));
  if (!impl->module)
    throw Error(Diagnostic{Diagnostic::Kind::Value, "the text is not tile IR: " + messages});
  return std::make_shared<Module>(std::move(impl));
}

std::vector<std::string> Module::kernelNames() const {
  std::lock_guard lock(impl->mutex);
  std::vector<std::string> names;
  for (auto kernel : impl->module->getOps<tile::KernelOp>())
    names.push_back(kernel.getSymName().str());
  return names;
}

} // namespace tilery
