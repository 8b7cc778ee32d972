#include "runtime/elf_code.h"
#include "runtime/relocations.h"
#include "runtime/symbols.h"
#include "tilery/diagnostic.h"
#include <cstring>
#include <elf.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace tilery {
namespace {

[[noreturn]] void fail(std::string message) {
  throw Error({Diagnostic::Kind::Runtime, "cannot load compiled code: " + std::move(message), "", {}});
}

uint64_t pageBytes() {
  static const auto bytes = uint64_t(sysconf(_SC_PAGESIZE)); // AArch64 also has pages of 16 and 64 KiB
  return bytes;
}
constexpr uint64_t mostBytes = uint64_t(1) << 31; // what code of the small model reaches
uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// Sections of one protection are neighbours.
enum Segment { Code, Constants, Data, SegmentCount };

// A call that may be further away than it reaches goes through a jump to an address; a GOT entry is such an address alone.
constexpr uint64_t gotBytes = 8;

class Linker {
public:
  Linker(std::string_view object) : object(object) { readHeaders(); }

  const Relocations &relocations = ownRelocations();
  std::string_view object;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::string_view names, sectionNames;
  std::vector<uint64_t> placement; // offset of each section from the start of the memory
  uint64_t segmentStart[SegmentCount + 1] = {};
  int unwindSection = -1;
  std::map<uint32_t, uint64_t> stubOf, gotOf; // symbol index -> offset
  char *memory = nullptr;

  std::string_view bytes(uint64_t offset, uint64_t count) const {
    if (offset > object.size() || count > object.size() - offset)
      fail("the object is truncated");
    return object.substr(offset, count);
  }
  std::string_view nameAt(std::string_view table, uint64_t offset) const {
    if (offset >= table.size())
      fail("the object is damaged");
    return table.substr(offset, table.find('\0', offset) - offset);
  }

  /// As many elements as fit into the bytes.
  template <typename T> static std::vector<T> tableOf(std::string_view bytes) {
    std::vector<T> table(bytes.size() / sizeof(T));
    if (!table.empty())
      std::memcpy(table.data(), bytes.data(), table.size() * sizeof(T));
    return table;
  }

  void readHeaders() {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes(0, sizeof header).data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_REL ||
        header.e_machine != relocations.machine || header.e_shentsize != sizeof(Elf64_Shdr))
      fail("not a relocatable " + std::string(relocations.name) + " ELF object");
    sections = tableOf<Elf64_Shdr>(bytes(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
    auto contents = [&](uint32_t index) {
      if (index >= sections.size())
        fail("the object is damaged");
      return bytes(sections[index].sh_offset, sections[index].sh_size);
    };
    sectionNames = contents(header.e_shstrndx);
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type != SHT_SYMTAB)
        continue;
      symbols = tableOf<Elf64_Sym>(bytes(section.sh_offset, section.sh_size));
      names = contents(section.sh_link);
    }
  }

  template <typename F> void forEachRelocation(F visit) {
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type != SHT_RELA || section.sh_info >= sections.size() || !(sections[section.sh_info].sh_flags & SHF_ALLOC))
        continue;
      for (const Elf64_Rela &relocation : tableOf<Elf64_Rela>(bytes(section.sh_offset, section.sh_size))) {
        if (ELF64_R_SYM(relocation.r_info) >= symbols.size())
          fail("the object is damaged");
        visit(section.sh_info, relocation);
      }
    }
  }

  uint64_t layOut() {
    placement.assign(sections.size(), 0);
    uint64_t end = 0;
    for (int segment = 0; segment < SegmentCount; ++segment) {
      segmentStart[segment] = end = alignUp(end, pageBytes());
      for (size_t i = 0; i < sections.size(); ++i) {
        const Elf64_Shdr &section = sections[i];
        if (!(section.sh_flags & SHF_ALLOC))
          continue;
        Segment home = section.sh_flags & SHF_EXECINSTR ? Code : section.sh_flags & SHF_WRITE ? Data : Constants;
        if (home != segment)
          continue;
        std::string_view name = nameAt(sectionNames, section.sh_name);
        if (section.sh_flags & SHF_TLS || section.sh_type == SHT_INIT_ARRAY)
          fail("section " + std::string(name) + " is not supported");
        if (section.sh_addralign > pageBytes() || section.sh_size > mostBytes)
          fail("section " + std::string(name) + " does not fit into memory");
        placement[i] = end = alignUp(end, std::max<uint64_t>(section.sh_addralign, 1));
        end += section.sh_size;
        if (name == ".eh_frame") {
          unwindSection = int(i);
          end += 4; // the zero length that ends the tables
        }
      }
      if (segment == Code)
        forEachRelocation([&](uint32_t, const Elf64_Rela &relocation) {
          uint32_t symbol = ELF64_R_SYM(relocation.r_info), kind = ELF64_R_TYPE(relocation.r_info);
          if (symbols[symbol].st_shndx == SHN_UNDEF && relocations.mayJump(kind) && !stubOf.count(symbol)) {
            end = alignUp(end, relocations.stubBytes);
            stubOf[symbol] = end;
            end += relocations.stubBytes;
          }
        });
      if (segment == Constants)
        forEachRelocation([&](uint32_t, const Elf64_Rela &relocation) {
          uint32_t symbol = ELF64_R_SYM(relocation.r_info);
          if (relocations.needsWord(ELF64_R_TYPE(relocation.r_info)) && !gotOf.count(symbol)) {
            end = alignUp(end, gotBytes);
            gotOf[symbol] = end;
            end += gotBytes;
          }
        });
    }
    if (end > mostBytes)
      fail("the object does not fit into memory");
    segmentStart[SegmentCount] = alignUp(end, pageBytes());
    return segmentStart[SegmentCount];
  }

  uint64_t addressOf(uint32_t index) {
    const Elf64_Sym &symbol = symbols[index];
    if (symbol.st_shndx == SHN_ABS)
      return symbol.st_value;
    if (symbol.st_shndx != SHN_UNDEF) {
      if (symbol.st_shndx >= sections.size())
        fail("the object is damaged");
      return uint64_t(memory) + placement[symbol.st_shndx] + symbol.st_value;
    }
    std::string name(nameAt(names, symbol.st_name));
    if (name.empty())
      return 0;
    if (void *address = resolveSymbol(name))
      return uint64_t(address);
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
      return 0;
    fail("it calls " + name + ", which does not exist in this process");
  }

  /// Unwinders follow lengths and distances to common entries without asking where they lead.
  void checkUnwindTables(std::string_view table) const {
    std::set<uint64_t> common;
    auto wordAt = [&](uint64_t offset) {
      uint32_t word;
      std::memcpy(&word, table.substr(offset, sizeof word).data(), sizeof word);
      return word;
    };
    for (uint64_t at = 0; at != table.size();) {
      uint32_t length = table.size() - at < 4 ? 0 : wordAt(at);
      if (length < 4 || length > table.size() - at - 4)
        fail("the object is damaged");
      if (uint32_t distance = wordAt(at + 4); distance == 0)
        common.insert(at);
      else if (!common.count(at + 4 - distance))
        fail("the object is damaged");
      at += 4 + length;
    }
  }

  void fill() {
    if (unwindSection >= 0)
      checkUnwindTables(bytes(sections[unwindSection].sh_offset, sections[unwindSection].sh_size));
    for (size_t i = 0; i < sections.size(); ++i)
      if (sections[i].sh_flags & SHF_ALLOC && sections[i].sh_type != SHT_NOBITS) {
        std::string_view contents = bytes(sections[i].sh_offset, sections[i].sh_size);
        std::memcpy(memory + placement[i], contents.data(), contents.size());
      }
    for (auto [symbol, offset] : stubOf)
      relocations.writeStub(memory + offset, addressOf(symbol));
    for (auto [symbol, offset] : gotOf) {
      uint64_t address = addressOf(symbol);
      std::memcpy(memory + offset, &address, sizeof address);
    }
    forEachRelocation([&](uint32_t section, const Elf64_Rela &relocation) { apply(section, relocation); });
  }

  void apply(uint32_t section, const Elf64_Rela &relocation) {
    uint32_t symbol = ELF64_R_SYM(relocation.r_info), kind = ELF64_R_TYPE(relocation.r_info);
    const unsigned width = relocations.width(kind);
    if (width == 0)
      fail("relocation kind " + std::to_string(kind) +
           " is not supported (compile position-independent code of the small model)");
    if (relocation.r_offset > sections[section].sh_size || sections[section].sh_size - relocation.r_offset < width)
      fail("the object is damaged");
    char *place = memory + placement[section] + relocation.r_offset;
    uint64_t target;
    if (auto stub = stubOf.find(symbol); stub != stubOf.end() && relocations.mayJump(kind))
      target = uint64_t(memory) + stub->second;
    else if (relocations.needsWord(kind))
      target = uint64_t(memory) + gotOf.at(symbol);
    else
      target = addressOf(symbol);
    if (!relocations.apply(kind, place, uint64_t(place), target + uint64_t(relocation.r_addend)))
      fail("a reference is out of range");
  }

  /// Those that the object defines.
  std::vector<CodeSymbol> functions() const {
    std::vector<CodeSymbol> result;
    for (const Elf64_Sym &symbol : symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
        continue;
      const Elf64_Shdr *home = symbol.st_shndx < sections.size() ? &sections[symbol.st_shndx] : nullptr;
      if (!home || !(home->sh_flags & SHF_EXECINSTR) || symbol.st_value > home->sh_size ||
          symbol.st_size > home->sh_size - symbol.st_value)
        fail("the object is damaged");
      result.push_back({std::string(nameAt(names, symbol.st_name)),
                        uint64_t(memory) + placement[symbol.st_shndx] + symbol.st_value, symbol.st_size});
    }
    return result;
  }
};

} // namespace

ElfCode::ElfCode(std::string_view object) {
  Linker linker(object);
  size = linker.layOut();
  if (size == 0)
    fail("the object is empty");
  memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    fail("no memory");
  }
  try {
    linker.memory = static_cast<char *>(memory);
    linker.fill();
    __builtin___clear_cache(linker.memory, linker.memory + linker.segmentStart[Constants]);
    const int protections[SegmentCount] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int segment = 0; segment < SegmentCount; ++segment) {
      uint64_t start = linker.segmentStart[segment], length = linker.segmentStart[segment + 1] - start;
      if (length && mprotect(static_cast<char *>(memory) + start, length, protections[segment]))
        fail("this system does not allow memory to become executable");
    }
    functions_ = linker.functions();
  } catch (...) {
    munmap(memory, size);
    throw;
  }
  if (linker.unwindSection >= 0)
    unwind = linker.memory + linker.placement[linker.unwindSection];
  placed = std::string(object);
  Elf64_Ehdr header;
  std::memcpy(&header, placed.data(), sizeof header);
  for (size_t i = 0; i < linker.sections.size(); ++i) {
    linker.sections[i].sh_addr = linker.sections[i].sh_flags & SHF_ALLOC ? uint64_t(memory) + linker.placement[i] : 0;
    std::memcpy(placed.data() + header.e_shoff + i * sizeof(Elf64_Shdr), &linker.sections[i], sizeof(Elf64_Shdr));
  }
}

ElfCode::~ElfCode() { munmap(memory, size); }

uint64_t ElfCode::find(std::string_view name) const {
  for (const CodeSymbol &symbol : functions_)
    if (symbol.name == name)
      return symbol.address;
  return 0;
}

} // namespace tilery
