#include "compiler/source_line.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"

namespace tilery {
std::string sourceLine(std::string_view object, uint64_t address) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  uint64_t section = llvm::object::SectionedAddress::UndefSection;
  for (const llvm::object::SectionRef &candidate : (*file)->sections())
    if (candidate.isText() && address >= candidate.getAddress() && address < candidate.getAddress() + candidate.getSize())
      section = candidate.getIndex();
  auto context = llvm::DWARFContext::create(**file);
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  auto line = context->getLineInfoForAddress({address, section}, wanted);
  return line && line->Line ? line->FileName + ":" + std::to_string(line->Line) : "";
}
} // namespace tilery
