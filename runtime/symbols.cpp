#include "runtime/symbols.h"
#include "tilery/abi.h"
#include "tilery/machine.h"
#include <dlfcn.h>
#include <string_view>

namespace tilery {
namespace {
struct Entry {
  std::string_view name;
  void *address;
};
// Listed, not looked up with dlsym: the library's own symbols are hidden. Every function of abi.h and machine.h is here.
#define RUNTIME_SYMBOL(name)                                                                                                     \
  Entry { #name, reinterpret_cast<void *>(&name) }
const Entry runtimeSymbols[] = {
    RUNTIME_SYMBOL(tilery_rt_print),       RUNTIME_SYMBOL(tilery_rt_assert),        RUNTIME_SYMBOL(tilery_rt_panel),
    RUNTIME_SYMBOL(tilery_rt_panel_piece), RUNTIME_SYMBOL(tilery_rt_panel_release), RUNTIME_SYMBOL(tilery_rt_sort),
    RUNTIME_SYMBOL(tilery_rt_clock),       RUNTIME_SYMBOL(tilery_rt_thread),        RUNTIME_SYMBOL(tilery_rt_poll),
};
#undef RUNTIME_SYMBOL
} // namespace

void *resolveSymbol(const std::string &name) {
  for (const Entry &entry : runtimeSymbols)
    if (entry.name == name)
      return entry.address;
  return dlsym(RTLD_DEFAULT, name.c_str());
}
} // namespace tilery
