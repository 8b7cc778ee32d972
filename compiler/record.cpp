#include "compiler/record.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"
#include <cstdlib>

namespace tilery {
namespace {
constexpr llvm::StringLiteral prefix = "// options:";
} // namespace

void record(mlir::ModuleOp module, const RecordedOptions &options) {
  const char *folder = std::getenv("TILERY_RECORD");
  if (!folder || !*folder)
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << prefix;
  if (options.disjoint)
    out << " disjoint";
  if (options.fpContract)
    out << " contract";
  if (options.passes)
    out << " passes";
  out << "\n" << module << "\n";
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, llvm::toHex(llvm::SHA1::hash(llvm::arrayRefFromStringRef(text)), true).substr(0, 16) + ".mlir");
  if (llvm::sys::fs::exists(path) || llvm::sys::fs::create_directories(folder))
    return;
  // A file has its name only once it is complete.
  llvm::SmallString<256> unfinished;
  int descriptor = -1;
  if (llvm::sys::fs::createUniqueFile(path + ".%%%%%%", descriptor, unfinished))
    return;
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  if (llvm::sys::fs::rename(unfinished, path))
    llvm::sys::fs::remove(unfinished);
}

RecordedOptions recordedOptions(llvm::StringRef text) {
  llvm::StringRef line = text.take_until([](char c) { return c == '\n'; });
  if (!line.consume_front(prefix))
    return {};
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', -1, false);
  auto has = [&](llvm::StringRef word) { return llvm::is_contained(words, word); };
  return {has("disjoint"), has("contract"), has("passes")};
}

} // namespace tilery
