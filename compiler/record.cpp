#include "compiler/record.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"

namespace tilery {
namespace {
constexpr llvm::StringLiteral prefix = "// options:";
} // namespace

void record(mlir::ModuleOp module, const RecordedOptions &options) {
  std::string folder = environmentText("TILERY_RECORD").value_or("");
  if (folder.empty())
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
  if (llvm::sys::fs::exists(path))
    return;
  auto check = [&](std::error_code problem) {
    if (problem)
      throw Error(
          {Diagnostic::Kind::Value,
           "the environment variable TILERY_RECORD is '" + folder + "', where nothing can be written: " + problem.message(),
           "set it to a folder of yours, or unset it",
           {}});
  };
  check(llvm::sys::fs::create_directories(folder));
  // A file has its name only once it is complete.
  llvm::SmallString<256> unfinished;
  int descriptor = -1;
  check(llvm::sys::fs::createUniqueFile(path + ".%%%%%%", descriptor, unfinished));
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << text;
  file.close();
  std::error_code problem = file.error();
  file.clear_error(); // else it ends the process
  if (!problem)
    problem = llvm::sys::fs::rename(unfinished, path);
  if (problem)
    llvm::sys::fs::remove(unfinished);
  check(problem);
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
