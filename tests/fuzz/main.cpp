// tilery-fuzz [--count N] [--first SEED] [--step S] [--jobs J] [--against passes|block-passes|machine|blocks|assembler|gpu]
//   [--target avx2|avx512|sapphirerapids|aarch64-neon|aarch64-dotprod] [--runner COMMAND] [--print SEED]
// N programs of seeds S (1) apart: `--first 3 --step 11` are those written for threads, `--first 5 --step 17` products.
// `--runner "qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/tilery-aarch64-runner"` runs machine code on another processor than this.
// Worker processes, so that a crash of generated code is one more finding.
#include "check.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/passes/passes.h"
#include "compiler/targets/cpu/target.h"
#include "remote.h"
#include "llvm/ADT/StringSwitch.h"
#include <csignal>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace tilery;
using namespace tilery::fuzz;

namespace {

constexpr unsigned secondsPerProgram = 60; // a hang, on a busy machine

struct Settings {
  uint64_t count = 2000, first = 1, step = 1;
  uint64_t end() const { return first + count * step; }
  unsigned jobs = 2;
  Against against = Against::Machine;
  std::optional<uint64_t> printed; ///< show this program instead
};

/// What is wrong with the command line; empty if nothing is.
std::string parse(llvm::ArrayRef<const char *> arguments, Settings &settings) {
  for (size_t i = 0; i < arguments.size(); i += 2) {
    StringRef option = arguments[i], value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    uint64_t number = 0;
    const bool isNumber = llvm::to_integer(value, number, 10);
    if (option == "--against") {
      auto against = llvm::StringSwitch<std::optional<Against>>(value)
                         .Case("passes", Against::Passes)
                         .Case("block-passes", Against::BlockPasses)
                         .Case("machine", Against::Machine)
                         .Case("blocks", Against::Blocks)
                         .Case("assembler", Against::Assembler)
                         .Case("gpu", Against::Gpu)
                         .Default(std::nullopt);
      if (!against)
        return "--against takes passes, block-passes, machine, blocks, assembler or gpu, not `" + value.str() + "`";
      settings.against = *against;
    } else if (option == "--target") {
      const cpu::CpuTarget *target = cpu::findTarget(value.str());
      if (!target)
        return "--target takes a CPU target, not `" + value.str() + "`";
      machineTarget = value.str();
    } else if (option == "--runner") {
      remoteCommand = value.str();
    } else if (!llvm::is_contained({"--count", "--first", "--step", "--jobs", "--print"}, option)) {
      return "unknown option " + option.str();
    } else if (!isNumber || (llvm::is_contained({"--jobs", "--step"}, option) && number == 0)) {
      return option.str() + " takes a number, not `" + value.str() + "`";
    } else if (option == "--count") {
      settings.count = number;
    } else if (option == "--first") {
      settings.first = number;
    } else if (option == "--step") {
      settings.step = number;
    } else if (option == "--jobs") {
      settings.jobs = unsigned(number);
    } else {
      settings.printed = number;
    }
  }
  if (remoteCommand.empty() && !cpu::hostRuns(*cpu::findTarget(machineTarget)))
    return "this processor does not run code for " + machineTarget + "; --runner takes a command that does";
  return "";
}

/// What a worker tells its parent.
struct Progress {
  uint64_t seed, agreed, skipped, failed;
  char difference[400]; ///< why it ended on this seed; empty: it did not mean to
};

std::unique_ptr<MLIRContext> makeContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect,
                       block::BlockDialect>();
  return context;
}

Style styleOf(uint64_t seed) { return static_cast<Style>(seed % 4); }

/// How the program fails in a process of its own, up to the place within the argument that differs; empty where it does not, and
/// the state that the process ended with where it ended by itself.
std::string failureInChild(const Program &program, ModuleOp module, Against against, bool say = false) {
  int ends[2];
  if (pipe(ends))
    return {};
  pid_t child = fork();
  if (child == 0) {
    alarm(secondsPerProgram);
    Outcome outcome = check(program, module, against);
    if (say)
      llvm::outs() << "reduced: " << outcome.message << "\n";
    llvm::outs().flush();
    std::string kind = outcome.message.substr(0, outcome.message.find_first_of(",:"));
    bool sent = outcome.kind != Outcome::Differs || write(ends[1], kind.data(), kind.size()) == ssize_t(kind.size());
    _exit(!sent);
  }
  close(ends[1]);
  std::string kind(256, 0);
  ssize_t size = read(ends[0], kind.data(), kind.size());
  close(ends[0]);
  kind.resize(std::max<ssize_t>(size, 0));
  int status = 0;
  waitpid(child, &status, 0);
  return status ? "ends by " + std::to_string(status) : kind;
}

void printFailure(uint64_t seed, const std::string &message, Against against) {
  auto context = makeContext();
  Program program = generate(*context, seed, styleOf(seed));
  llvm::outs() << "seed " << seed << ": " << message << "\n";
  llvm::outs().flush(); // before any fork
  {
    ScopedDiagnosticHandler quiet(context.get(), [](mlir::Diagnostic &) { return success(); });
    if (succeeded(verify(*program.module))) {
      std::string kind = failureInChild(program, *program.module, against);
      reduce(*program.module,
             [&](ModuleOp trial) { return succeeded(verify(trial)) && failureInChild(program, trial, against) == kind; });
    }
  }
  if ((against == Against::Passes || against == Against::BlockPasses) && succeeded(verify(*program.module)))
    llvm::outs() << "first wrong after: " << guiltyPass(program, *program.module, against) << "\n";
  llvm::outs().flush();
  failureInChild(program, *program.module, against, true);
  llvm::outs() << *program.module << "\n";
  llvm::outs().flush();
}

void work(const Settings &settings, uint64_t from, Progress &progress) {
  std::map<std::string, unsigned> reasons;
  for (uint64_t seed = from; seed < settings.end(); seed += settings.jobs * settings.step) {
    progress.seed = seed;
    alarm(secondsPerProgram);
    auto context = makeContext();
    Program program = generate(*context, seed, styleOf(seed));
    Outcome outcome = check(program, *program.module, settings.against);
    alarm(0);
    if (outcome.kind == Outcome::Agrees)
      ++progress.agreed;
    else if (outcome.kind == Outcome::Skipped) {
      ++progress.skipped;
      ++reasons[outcome.message];
    } else {
      if (settings.against == Against::Gpu) { // reducing forks, which a process that uses a GPU must not: the parent does it,
        std::snprintf(progress.difference, sizeof progress.difference, "%s", outcome.message.c_str());
        _exit(1); // and a fault takes the context with it: a new process goes on
      }
      ++progress.failed;
      printFailure(seed, outcome.message, settings.against);
    }
  }
  for (auto &[reason, count] : reasons)
    llvm::outs() << "skipped " << count << ": " << reason << "\n";
  llvm::outs().flush();
}

int runAll(const Settings &settings) {
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress) * settings.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::map<pid_t, unsigned> workers;
  auto start = [&](unsigned worker, uint64_t from) {
    pid_t child = fork();
    if (child == 0) {
      work(settings, from, progress[worker]);
      _exit(0);
    }
    workers[child] = worker;
  };
  for (unsigned worker = 0; worker < settings.jobs; ++worker)
    start(worker, settings.first + worker * settings.step);
  uint64_t crashed = 0;
  while (!workers.empty()) {
    int status = 0;
    pid_t child = wait(&status);
    unsigned worker = workers[child];
    workers.erase(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      continue;
    ++crashed;
    uint64_t seed = progress[worker].seed;
    std::string how = progress[worker].difference;
    progress[worker].difference[0] = '\0';
    if (WIFSIGNALED(status))
      how = WTERMSIG(status) == SIGALRM ? "does not end" : std::string("crashes: ") + strsignal(WTERMSIG(status));
    else if (how.empty())
      how = "ends the process with status " + std::to_string(WEXITSTATUS(status));
    printFailure(seed, how, settings.against);
    start(worker, seed + settings.jobs * settings.step);
  }
  uint64_t agreed = 0, skipped = 0, failed = crashed;
  for (unsigned worker = 0; worker < settings.jobs; ++worker) {
    agreed += progress[worker].agreed;
    skipped += progress[worker].skipped;
    failed += progress[worker].failed;
  }
  llvm::outs() << agreed << " programs agree, " << failed << " failed, " << skipped << " skipped (seeds " << settings.first
               << " to " << settings.end() - settings.step << ")\n";
  return failed != 0;
}

} // namespace

int main(int argc, char **argv) {
  registerTransformsPasses();
  registerTilePasses();
  block::registerBlockPasses();
  Settings settings;
  if (std::string wrong = parse({argv + 1, argv + argc}, settings); !wrong.empty()) {
    llvm::errs() << "tilery-fuzz: " << wrong << "\n";
    return 2;
  }
  if (settings.printed) {
    auto context = makeContext();
    Program program = generate(*context, *settings.printed, styleOf(*settings.printed));
    llvm::outs() << *program.module << "\n";
    return 0;
  }
  return runAll(settings);
}
