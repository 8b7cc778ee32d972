#include "tilery/environment.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include "tilery/gpu_memory.h"
#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilery {
namespace {
constexpr std::string_view prefix = "TILERY_";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::count(words, text) != 0;
}
bool isOn(std::string_view text) { return isOneOf(lower(text), {"1", "true", "on", "yes", "y"}); }
bool isSwitch(std::string_view text) { return isOn(text) || isOneOf(lower(text), {"0", "false", "off", "no", "n"}); }
bool isAnything(std::string_view) { return true; }

std::optional<uint64_t> numberOf(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}
template <uint64_t least, uint64_t most> bool isWithin(std::string_view text) {
  std::optional<uint64_t> value = numberOf(text);
  return value && *value >= least && *value <= most;
}

bool areStages(std::string_view text) {
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    if (!isOneOf(text.substr(at, end - at), {"tile", "passes", "plan", "block", "llvm", "asm", "all"}))
      return false;
    at = end + 1;
  }
  return true;
}

/// sm_80, sm_90a
bool isGpu(std::string_view text) {
  if (!text.starts_with("sm_"))
    return false;
  text.remove_prefix(3);
  if (text.ends_with('a'))
    text.remove_suffix(1);
  return isWithin<80, 999>(text);
}

bool isCrash(std::string_view text) {
  size_t space = text.find(' ');
  return isOneOf(text.substr(0, space), {"fault", "abort", "exit", "overflow"}) && space < text.size() - 1;
}

bool isCpu(std::string_view text) {
  try {
    return text != "host" && cpuFeaturesOf(text);
  } catch (const Error &) {
    return false;
  }
}

constexpr const char *onOrOff = "1 (true, on, yes, y) or 0 (false, off, no, n)";

constexpr EnvironmentVariable table[] = {
    {"TILERY_BUILD_DIR", "a folder", "the build; set by `./run` for its children", isAnything},
    {"TILERY_CACHE_DIR", "a folder, or nothing",
     "where the disk cache lies (else in the user's cache folder; empty: there is none; a relative one lies below "
     "that in which the program began); point it at an empty folder to compile afresh",
     isAnything},
    {"TILERY_CACHE_MB", "a number of MiB up to 1000000000", "the bound of the disk cache (512)", isWithin<0, 1000000000>},
    {"TILERY_COMPAT", "1 or told",
     "set by `tilery run` for its children, which do as it does; `told`: the user knows what the device \"cuda\" means",
     [](std::string_view text) { return isOneOf(text, {"1", "told"}); }},
    {"TILERY_CPU_TARGET", "a target that `tilery doctor` names of the CPU",
     "code is made for this kind of processor instead of the one that is there, which must run it: to test and measure code for "
     "others",
     isCpu},
    {"TILERY_CRASH", "fault, abort, exit or overflow, and a step of the compiler",
     "the compiler crashes where this step begins (`fault STEP`, `abort STEP`, `exit STEP`, `overflow STEP`; a pass by its "
     "argument, "
     "\"planning\", \"making LLVM IR\", \"LLVM: EarlyCSEPass\"): to test what comes after",
     isCrash},
    {"TILERY_DEVICE", "cpu or cuda",
     "`cpu`: \"cuda\" means the CPU for `tilery run`, even where there is a GPU; `cuda`: it does not, even where there is none",
     [](std::string_view text) { return isOneOf(text, {"cpu", "cuda"}); }},
    {"TILERY_DUMP", "some of tile, passes, plan, block, llvm, asm and all, with commas between them",
     "prints these stages of every compilation to stderr (`all`: every stage)", areStages},
    {"TILERY_EMULATE", "a GPU, then what is wanted of late, races and processors=N, with commas between them",
     "`./run`: there is this GPU (`sm_90a`), which fibers of the CPU emulate, in the host's memory: every launch compiles, and "
     "goes "
     "through the driver's functions, as for it (`tests/emulator/gpu`; \"cuda\" means the CPU). `sm_90a,late`: copies arrive as "
     "late "
     "as waits allow; `races`: accesses of memory that nothing orders fail; `processors=4`: blocks run several programs",
     isAnything}, // the emulator refuses what it does not know
    {"TILERY_EXPLAIN", onOrOff,
     "compilations to block IR say on stderr in a line each: the product's place, schedule, price, bound and next best schedule, "
     "or "
     "why there are none",
     isSwitch},
    {"TILERY_GPU_TARGET", "a GPU from sm_80 on, such as sm_90a",
     "code is made for this GPU instead of the one that is there: an older one's code runs on a newer one, to test and measure "
     "it",
     isGpu},
    {"TILERY_LINE_INFO", onOrOff,
     "GPU code has line tables, by which `ncu` shows the program's source; code for CPUs has them always", isSwitch},
    {"TILERY_NUM_THREADS", "a number from 1 to 4096", "threads that run programs (else as many as the process may use CPUs)",
     isWithin<1, 4096>},
    {"TILERY_ORACLE", onOrOff, "every launch runs the reference interpreter instead of machine code", isSwitch},
    {"TILERY_PERF", onOrOff, "generated code is listed in the map file that `perf report` reads; gdb knows it always", isSwitch},
    {"TILERY_PYTHON", "a path", "`./run`: the interpreter that `.venv` is made from", isAnything},
    {"TILERY_RECORD", "a folder",
     "writes each distinct module that is compiled, before the passes, into this folder: the corpus of `./run replay`",
     isAnything},
    {"TILERY_SCHEDULE", "fields of a schedule as name=number, with spaces between them",
     "a GPU matrix product's schedule, in part (`stages=3 group=1`; `general=1`: by the general path; `benchmarks/gpu_matmul.py` "
     "compares them); point `TILERY_CACHE_DIR` at an empty folder with it",
     isAnything}, // the compiler knows the fields
    {"TILERY_TEST_SHOW", onOrOff, "unit tests of the CPU code print plans and code", isSwitch},
    {"TILERY_TUNE", onOrOff,
     "kernels of NineToothed with `max_num_configs` time their block sizes when a new kind of call is met", isSwitch},
    {"TILERY_VERIFY", onOrOff,
     "MLIR's verifier after each pass; GPU code that the assembler serialised, and roles whose barriers cannot be checked, are "
     "refused (`./run test` and `./check` set it)",
     isSwitch},
};

const EnvironmentVariable *find(std::string_view name) {
  auto found =
      std::ranges::find(table, name, [](const EnvironmentVariable &variable) { return std::string_view(variable.name); });
  return found == std::end(table) ? nullptr : found;
}

/// For a message: whatever somebody has put there.
std::string quoted(std::string_view text) {
  constexpr size_t longest = 80;
  std::string result = "'";
  for (unsigned char c : text.substr(0, longest)) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, c < ' ' || c > '~' ? "\\x%02x" : "%c", c);
    result += escaped;
  }
  return result + (text.size() > longest ? "..." : "") + "'";
}

const char *checked(const EnvironmentVariable &variable) {
  const char *text = std::getenv(variable.name);
  if (text && *text && !variable.fits(text))
    throw Error(
        {Diagnostic::Kind::Value,
         std::string("the environment variable ") + variable.name + " is " + quoted(text) + "; expected " + variable.takes,
         "set it to that, or unset it",
         {}});
  return text;
}

/// Letters to change, add or leave out.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t before = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j)
      before = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, before + (a[i - 1] != b[j - 1])}));
  }
  return row[b.size()];
}
} // namespace

std::span<const EnvironmentVariable> environmentVariables() { return table; }

std::optional<std::string> environmentText(std::string_view name) {
  const EnvironmentVariable *variable = find(name);
  if (!variable)
    throw Error({Diagnostic::Kind::Runtime, "no environment variable " + std::string(name) + " is in the table", "", {}});
  const char *text = checked(*variable);
  return text ? std::optional<std::string>(text) : std::nullopt;
}

bool environmentSwitch(std::string_view name) { return isOn(environmentText(name).value_or("")); }
std::optional<uint64_t> environmentNumber(std::string_view name) { return numberOf(environmentText(name).value_or("")); }

void warnOfUnknownVariables() {
  static std::atomic<bool> told{false};
  if (told.exchange(true))
    return;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view name = *entry;
    if (!name.starts_with(prefix))
      continue;
    name = name.substr(0, name.find('='));
    if (find(name))
      continue;
    auto near = std::ranges::min_element(table, {}, [&](const EnvironmentVariable &known) { return distance(name, known.name); });
    size_t letters = name.size() - prefix.size();
    bool isNear = distance(name, near->name) <= letters / 3 + 1;
    std::fprintf(stderr, "tilery: the environment variable %s is not known and does nothing%s%s%s\n", quoted(name).c_str(),
                 isNear ? "; did you mean " : "", isNear ? near->name : "", isNear ? "?" : "");
  }
}

/// Only the binding of `./run` emulates a GPU: elsewhere a program would take the CPU's code for the GPU's.
static void warnOfNoEmulator() {
  static std::atomic<bool> told{false};
  if (!gpuInHostMemory && !environmentText("TILERY_EMULATE").value_or("").empty() && !told.exchange(true))
    std::fprintf(stderr, "tilery: TILERY_EMULATE does nothing here: no GPU is emulated but in programs that ./run starts\n");
}

void checkEnvironment() {
  warnOfUnknownVariables();
  warnOfNoEmulator();
  for (const EnvironmentVariable &variable : table)
    checked(variable);
}

} // namespace tilery
