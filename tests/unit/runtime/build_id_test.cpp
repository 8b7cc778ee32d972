// The build's name is that of the note which the linker wrote, read here from the file by its section.
#include "runtime/hash.h"
#include "tilery/cache.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace tilery;

namespace {
/// The identification in this program's section .note.gnu.build-id.
std::string linked() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes.data());
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes.data() + header->e_shoff);
  const char *names = bytes.data() + sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (!std::strcmp(names + sections[i].sh_name, ".note.gnu.build-id"))
      return bytes.substr(sections[i].sh_offset + sizeof(Elf64_Nhdr) + 4, sections[i].sh_size - sizeof(Elf64_Nhdr) - 4);
  return "";
}
} // namespace

TEST(BuildId, IsTheLinkersOfThisProgram) {
  ASSERT_GE(linked().size(), 8u) << "linked without --build-id";
  EXPECT_EQ(buildId(), digest(linked()).substr(0, 16));
  EXPECT_NE(buildId(), digest("").substr(0, 16));
}
