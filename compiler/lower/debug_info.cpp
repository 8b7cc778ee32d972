#include "compiler/lower/debug_info.h"

using namespace mlir;

namespace tilery::lower {

FileLineColLoc sourceLine(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    if (auto line = dyn_cast<FileLineColLoc>(part)) {
      found = line;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

DebugInfo::DebugInfo(llvm::Module &module, Kind kind) : module(module), kind(kind), builder(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
}

llvm::DIFile *DebugInfo::file(llvm::StringRef path) {
  llvm::DIFile *&entry = files[path];
  if (!entry) {
    auto [folder, name] = path.rsplit('/');
    entry = name.empty() ? builder.createFile(path, ".") : builder.createFile(name, folder.empty() ? "/" : folder);
  }
  return entry;
}

/// An operation's line; of one that has none, the first within it.
static FileLineColLoc firstLine(Operation *op) {
  FileLineColLoc found;
  op->walk<WalkOrder::PreOrder>([&](Operation *each) {
    found = sourceLine(each->getLoc());
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

void DebugInfo::beginFunction(llvm::Function *function, Operation *kernel) {
  FileLineColLoc source = firstLine(kernel);
  llvm::DIFile *where = file(source ? source.getFilename().getValue() : "<unknown>");
  if (!unit)
    unit = builder.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), where, "tilery", true, "", 0, "", kind);
  unsigned line = source ? source.getLine() : 0;
  auto *type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  subprogram =
      builder.createFunction(where, function->getName(), function->getName(), where, line, type, line, llvm::DINode::FlagZero,
                             llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function->setSubprogram(subprogram);
  scopes.clear();
}

llvm::DILocation *DebugInfo::line(Location location) {
  FileLineColLoc source = sourceLine(location);
  if (!source)
    return llvm::DILocation::get(module.getContext(), 0, 0, subprogram);
  llvm::DIFile *where = file(source.getFilename().getValue());
  llvm::DIScope *scope = subprogram;
  if (where != subprogram->getFile()) {
    llvm::DIScope *&entry = scopes[where];
    if (!entry)
      entry = builder.createLexicalBlockFile(subprogram, where);
    scope = entry;
  }
  return llvm::DILocation::get(module.getContext(), source.getLine(), source.getColumn(), scope);
}

void DebugInfo::finish() {
  if (unit)
    builder.finalize();
}

} // namespace tilery::lower
