#include "kernels.h"
#include "runtime/elf_code.h"
#include "tilery/diagnostic.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <fstream>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

using namespace tilery;
using namespace tilery::test;

extern "C" {
struct JitDescriptor {
  uint32_t version, action;
  void *relevant, *first;
};
extern JitDescriptor __jit_debug_descriptor;
}

TEST(Loader, CallsCodeThatUsesConstantsDataAndLibm) {
  // A constant table, writable data, a call to libm and one to the C library.
  std::string text = R"(
@table = private constant [4 x double] [double 1.0, double 4.0, double 9.0, double 16.0]
@counter = internal global i64 41
declare double @cbrt(double)
declare ptr @memset(ptr, i32, i64)
define void @k(ptr %launch, i64 %begin, i64 %end, ptr %scratch) {
  %args = load ptr, ptr %launch
  %out = load ptr, ptr %args
  %p = getelementptr double, ptr @table, i64 %begin
  %x = load double, ptr %p
  %y = call double @cbrt(double %x)
  store double %y, ptr %out
  %c = load i64, ptr @counter
  %c1 = add i64 %c, 1
  store i64 %c1, ptr @counter
  %o1 = getelementptr i64, ptr %out, i64 1
  store i64 %c1, ptr %o1
  %o2 = getelementptr i64, ptr %out, i64 2
  call ptr @memset(ptr %o2, i32 255, i64 8)
  ret void
})";
  KernelPtr kernel = kernelOf(text);
  union {
    double d;
    int64_t i;
  } out[3] = {};
  uint64_t args[] = {uint64_t(&out)};
  TileryLaunch launch{args, {1, 1, 1}, 0, nullptr, nullptr, 0};
  kernel->entry()(&launch, 2, 3, nullptr);
  EXPECT_DOUBLE_EQ(out[0].d, std::cbrt(9.0));
  EXPECT_EQ(out[1].i, 42);
  EXPECT_EQ(out[2].i, -1);
}

TEST(Loader, NamesTheSymbolThatDoesNotExist) {
  std::string text = programLoop("  call void @no_such_function()\n  br label %next\n", "declare void @no_such_function()");
  try {
    kernelOf(text);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().message,
              "cannot load compiled code: it calls no_such_function, which does not exist in this process");
  }
}

TEST(Loader, RefusesDamagedObjects) {
  std::string object = objectOf(programLoop(incrementBody));
  EXPECT_THROW(ElfCode(""), Error);
  EXPECT_THROW(ElfCode("\x7f"
                       "ELF"),
               Error);
  for (size_t size = 0; size < object.size(); size += 61)
    EXPECT_THROW(ElfCode(object.substr(0, size)), Error) << size;
}

namespace {
/// The headers of an object's sections, to be changed.
struct Object {
  std::string bytes = objectOf(programLoop(incrementBody));
  Elf64_Ehdr &header() { return *reinterpret_cast<Elf64_Ehdr *>(bytes.data()); }
  std::span<Elf64_Shdr> sections() { return {reinterpret_cast<Elf64_Shdr *>(bytes.data() + header().e_shoff), header().e_shnum}; }
  Elf64_Shdr &section(std::string_view name) {
    for (Elf64_Shdr &each : sections())
      if (bytes.data() + sections()[header().e_shstrndx].sh_offset + each.sh_name == name)
        return each;
    throw std::runtime_error("no section " + std::string(name));
  }
};
} // namespace

TEST(Loader, RefusesWhatNoMemoryHolds) {
  auto refused = [](auto change) {
    Object object;
    EXPECT_NO_THROW(ElfCode(object.bytes));
    change(object);
    EXPECT_THROW(ElfCode(object.bytes), Error);
  };
  refused([](Object &o) { o.header().e_shnum = 0; });
  refused([](Object &o) { o.section(".text").sh_addralign = uint64_t(1) << 63; });
  refused([](Object &o) { o.section(".text").sh_addralign = 8192; }); // which pages of 4096 bytes cannot give
  for (uint64_t size : {uint64_t(1) << 32, ~uint64_t(0)})             // takes no room in the object
    refused([&](Object &o) { o.section(".text").sh_type = SHT_NOBITS, o.section(".text").sh_size = size; });
  refused([](Object &o) { // a function that ends behind its section
    for (Elf64_Shdr &section : o.sections())
      if (section.sh_type == SHT_SYMTAB)
        for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym))
          reinterpret_cast<Elf64_Sym *>(o.bytes.data() + section.sh_offset + at)->st_size = 1 << 20;
  });
  // Unwinders read at once what these say.
  refused([](Object &o) { o.bytes[o.section(".eh_frame").sh_offset + 3] = 0x7f; });
  refused([](Object &o) { o.section(".eh_frame").sh_size -= 4; });
  refused([](Object &o) {
    auto *tables = reinterpret_cast<uint32_t *>(o.bytes.data() + o.section(".eh_frame").sh_offset);
    tables[tables[0] / 4 + 2] = 1 << 30; // the distance from the first function's entry to what it has in common with others
  });
}

TEST(Loader, PlacesOrRefusesWhateverItGets) {
  const std::string object = objectOf(programLoop(incrementBody));
  for (size_t at = 0; at < object.size(); ++at)
    for (unsigned char flip : {0x01, 0x80, 0xff}) {
      std::string damaged = object;
      damaged[at] = char(damaged[at] ^ flip);
      try {
        ElfCode code(damaged);
        for (const CodeSymbol &function : code.functions())
          ASSERT_TRUE(code.holds(function.address)) << at;
      } catch (const Error &) {
      }
    }
}

TEST(Loader, CodeIsNeverWritable) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  std::ifstream maps("/proc/self/maps");
  std::string line;
  bool found = false;
  while (std::getline(maps, line)) {
    unsigned long first, last;
    char mode[5];
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, mode), 3);
    auto entry = reinterpret_cast<unsigned long>(kernel->entry());
    if (entry >= first && entry < last) {
      found = true;
      EXPECT_STREQ(mode, "r-xp");
    }
  }
  EXPECT_TRUE(found);
}

static _Unwind_Reason_Code countFrame(_Unwind_Context *, void *count) {
  ++*static_cast<int *>(count);
  return _URC_NO_REASON;
}
static int framesSeen = 0;
static void unwindHere() { _Unwind_Backtrace(countFrame, &framesSeen); }

TEST(Loader, UnwindsThroughKernels) {
  // The kernel calls a function of ours by its address, which unwinds the stack: without tables it would end at the kernel.
  std::string text = programLoop("  %f = load ptr, ptr %args\n  call void %f()\n  br label %next\n");
  KernelPtr kernel = kernelOf(text);
  uint64_t args[] = {uint64_t(&unwindHere)};
  TileryLaunch launch{args, {1, 1, 1}, 0, nullptr, nullptr, 0};
  framesSeen = 0;
  kernel->entry()(&launch, 0, 1, nullptr);
  int through = framesSeen;
  framesSeen = 0;
  unwindHere();
  EXPECT_GE(through, framesSeen + 1);
}

TEST(Loader, RegistersWithGdbAndUnloads) {
  void *before = __jit_debug_descriptor.first;
  {
    KernelPtr kernel = kernelOf(programLoop(incrementBody));
    EXPECT_NE(__jit_debug_descriptor.first, before);
  }
  EXPECT_EQ(__jit_debug_descriptor.first, before);
}

TEST(Loader, UnloadsWithTheLastKernel) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  char *page = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(kernel->entry()) & ~uintptr_t(4095));
  unsigned char resident;
  EXPECT_EQ(mincore(page, 4096, &resident), 0);
  kernel.reset();
  EXPECT_NE(mincore(page, 4096, &resident), 0);
}

TEST(Loader, WritesPerfMap) {
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  setenv("TILERY_PERF", "1", 1);
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  unsetenv("TILERY_PERF");
  std::ifstream file(path);
  unsigned long address, size;
  std::string name;
  file >> std::hex >> address >> size >> name;
  EXPECT_EQ(address, reinterpret_cast<unsigned long>(kernel->entry()));
  EXPECT_GT(size, 0u);
  EXPECT_EQ(name, "k");
  std::remove(path.c_str());
}
