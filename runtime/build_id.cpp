// Which build of the compiler this is: the linker's build id of the program or library that holds this code.
#include "runtime/hash.h"
#include "tilery/cache.h"
#include <elf.h>
#include <link.h>

namespace tilery {
namespace {
struct Search {
  uintptr_t inside;
  std::string id;
};

int visit(dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  bool holds = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    holds |= segment.p_type == PT_LOAD && search.inside >= start && search.inside < start + segment.p_memsz;
  }
  for (int i = 0; holds && i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr), *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof *note, *value = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::string_view(name, 3) == "GNU")
        search.id.assign(value, note->n_descsz);
      at = value + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return holds;
}
} // namespace

std::string buildId() {
  static const std::string id = [] {
    Search search{reinterpret_cast<uintptr_t>(&visit), {}};
    dl_iterate_phdr(visit, &search);
    return digest(search.id).substr(0, 16);
  }();
  return id;
}
} // namespace tilery
