#include "check.h"
#include "assembler.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/targets/cpu/cpu.h"
#include "compiler/oracle/element.h"
#include "compiler/oracle/oracle.h"
#include "compiler/passes/passes.h"
#include "compiler/record.h"
#include "gpu.h"
#include "remote.h"
#include "tests/emulator/emulator.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace tilery::fuzz {
namespace {

/// The arrays of one run, and its slots.
struct Memory {
  std::vector<std::vector<uint8_t>> arrays;
  std::vector<uint64_t> slots;
  explicit Memory(const Program &program) {
    for (const Argument &argument : program.args) {
      arrays.push_back(argument.data);
      slots.push_back(argument.data.empty() ? argument.scalar : reinterpret_cast<uint64_t>(arrays.back().data() + guardBytes));
    }
  }
};

tile::KernelOp kernelOf(ModuleOp module) { return *module.getOps<tile::KernelOp>().begin(); }

void interpret(const Program &program, ModuleOp module, Memory &memory, oracle::Shadow *shadow, bool late = false,
               bool tensorCores = false) {
  oracle::Options options;
  options.late = late;
  options.shadow = shadow;
  options.tensorCores = tensorCores;
  options.debug = shadow != nullptr; // a program that reads what nobody wrote, or races with itself, proves nothing
  for (auto [number, argument] : llvm::enumerate(program.args))
    if (!argument.data.empty())
      options.allocations.push_back({memory.slots[number], argument.data.size() - 2 * guardBytes,
                                     "argument " + std::to_string(number), true,
                                     oracle::elementOf(cast<tile::PtrType>(argument.type).getPointee()).bytes()});
  options.maxSteps = 20'000'000;
  oracle::runKernel(kernelOf(module), program.grid, memory.slots, options);
}

std::string hex(const uint8_t *bytes, unsigned count) { return llvm::toHex(ArrayRef(bytes, count)); }

// The first difference that the shadow does not allow, or an empty string.
std::string compare(const Program &program, const Memory &wanted, const Memory &got, const oracle::Shadow &shadow) {
  for (auto [number, argument] : llvm::enumerate(program.args)) {
    if (argument.data.empty())
      continue;
    const std::vector<uint8_t> &a = wanted.arrays[number], &b = got.arrays[number];
    if (a == b && shadow.memory.empty())
      continue;
    oracle::Element e = oracle::elementOf(cast<tile::PtrType>(argument.type).getPointee());
    auto describe = [&](size_t element) {
      std::string text;
      llvm::raw_string_ostream out(text);
      out << "argument " << number << " (" << argument.type << "), element " << element;
      return text;
    };
    if (!std::equal(a.begin(), a.begin() + guardBytes, b.begin()) ||
        !std::equal(a.end() - guardBytes, a.end(), b.end() - guardBytes))
      return "writes outside argument " + std::to_string(number);
    for (size_t at = guardBytes; at + guardBytes < a.size(); at += e.bytes()) {
      uint64_t want = oracle::readElement(e, &a[at]), have = oracle::readElement(e, &b[at]);
      double value = e.isFloat() ? oracle::decode(e, have) : 0;
      if (auto range = shadow.memory.find(reinterpret_cast<uint64_t>(&a[at])); range != shadow.memory.end()) {
        if (e.isFloat() && !range->second.contains(value)) {
          char text[200];
          std::snprintf(text, sizeof text, ": %.17g is outside [%.17g, %.17g]", value, range->second.lo, range->second.hi);
          return describe((at - guardBytes) / e.bytes()) + text;
        }
        continue;
      }
      if (!std::memcmp(&a[at], &b[at], e.bytes()))
        continue;
      double expected = e.isFloat() ? oracle::decode(e, want) : 1;
      if (e.isFloat() && ((std::isnan(value) && std::isnan(expected)) || (value == 0 && expected == 0)))
        continue; // NaNs have no particular bits, and zeros among equal operands of min and max no particular sign
      std::string text =
          describe((at - guardBytes) / e.bytes()) + ": " + hex(&b[at], e.bytes()) + " instead of " + hex(&a[at], e.bytes());
      return e.isFloat() ? text + " (" + std::to_string(value) + ", " + std::to_string(expected) + ")" : text;
    }
  }
  return {};
}

LogicalResult runPasses(ModuleOp module, bool keepThreads) {
  PassManager manager(module.getContext());
  buildPipeline(manager, keepThreads);
  return manager.run(module);
}

/// What the kernel takes for granted of a launch holds for the program's.
bool keepsRequirements(const Program &program, ModuleOp module) {
  auto holds = [&](block::RequireOp op) {
    uint64_t number = 0;
    analysis::IndexPolynomial polynomial = analysis::polynomialOf(op.getNumber(), analysis::Wrapping::address);
    for (auto &[monomial, coefficient] : polynomial.terms()) {
      uint64_t term = coefficient;
      for (Value atom : monomial) {
        auto argument = dyn_cast<BlockArgument>(atom);
        uint64_t factor = argument ? program.args[argument.getArgNumber()].scalar
                                   : program.grid[atom.getDefiningOp<tile::NumProgramsOp>().getAxis()];
        term *= uint64_t(llvm::SignExtend64(factor, atom.getType().getIntOrFloatBitWidth()));
      }
      number += term;
    }
    return op.getDivisor() ? int64_t(number) % int64_t(*op.getDivisor()) == 0 : int64_t(number) >= 0;
  };
  return llvm::all_of(kernelOf(module).getBody().getOps<block::RequireOp>(), holds);
}

Outcome blockPasses(const Program &program, ModuleOp module, const Memory &wanted, const oracle::Shadow &shadow,
                    const std::string &errors) {
  PassManager manager(module.getContext());
  block::buildBlockPipeline(manager);
  if (failed(manager.run(module)) || failed(verify(module)))
    return {Outcome::Differs, "the passes to block IR fail: " + errors};
  bool taken = module.walk([](block::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!taken)
    return {Outcome::Skipped, "it stays tile IR"};
  if (!keepsRequirements(program, module))
    return {Outcome::Skipped, "the launch needs code without boxes"};
  for (bool late : {false, true}) {
    Memory memory(program);
    interpret(program, module, memory, nullptr, late);
    if (std::string difference = compare(program, wanted, memory, shadow); !difference.empty())
      return {Outcome::Differs, std::string("in block IR, ") + (late ? "late, " : "") + difference};
  }
  return {};
}

Outcome machine(const Program &program, ModuleOp module, const Memory &wanted, const oracle::Shadow &shadow,
                std::string &errors) {
  cpu::Options options;
  options.target = *cpu::findTarget(machineTarget);
  options.fpContract = false;
  options.disjoint = program.args.size() % 2;
  auto code = cpu::compileModule(module, options);
  if (failed(code))
    return errors.empty() ? Outcome{Outcome::Differs, "the back end fails without a message"}
                          : Outcome{Outcome::Skipped, errors.substr(0, errors.find('\n'))};
  CodeImage image{code->object, code->kernels, ""};
  Memory memory(program);
  if (!remoteCommand.empty()) {
    std::string wrong = runRemotely(program, image, options.disjoint, memory.arrays);
    if (wrong.empty())
      wrong = compare(program, wanted, memory, shadow);
    return wrong.empty() ? Outcome() : Outcome{Outcome::Differs, wrong};
  }
  std::vector<KernelPtr> kernels = load(image);
  TileryLaunch launch{memory.slots.data(),
                      {program.grid[0], program.grid[1], program.grid[2]},
                      options.disjoint ? TILERY_DISJOINT : 0u,
                      nullptr,
                      nullptr,
                      0};
  size_t scratchBytes = (kernels[0]->info().scratchBytes + 127) / 64 * 64;
  std::unique_ptr<void, void (*)(void *)> scratch(std::aligned_alloc(64, scratchBytes), std::free);
  std::memset(scratch.get(), 0xE7, scratchBytes);
  int64_t count = int64_t(program.grid[0]) * program.grid[1] * program.grid[2], middle = count / 2;
  kernels[0]->entry()(&launch, middle, count, scratch.get()); // programs come in any order
  kernels[0]->entry()(&launch, 0, middle, scratch.get());
  std::string difference = compare(program, wanted, memory, shadow);
  return difference.empty() ? Outcome() : Outcome{Outcome::Differs, difference};
}

Outcome blocks(const Program &program, ModuleOp module, const Memory &wanted, const oracle::Shadow &shadow) {
  bool disjoint = program.args.size() % 2;
  OwningOpRef<ModuleOp> older = module.clone();
  std::unique_ptr<emulator::Kernel> byWarps = emulator::Kernel::translate(*older, emulator::Path::Warps, disjoint, 0);
  std::unique_ptr<emulator::Kernel> kernel = emulator::Kernel::translate(module, emulator::Path::Block, disjoint, 0);
  if (Memory memory(program); byWarps) {
    std::string wrong = byWarps->run(program.grid.data(), memory.slots.data());
    if (wrong.empty())
      wrong = compare(program, wanted, memory, shadow);
    if (!wrong.empty())
      return {Outcome::Differs, "block IR, by warps: " + wrong};
  }
  for (emulator::Timing timing : {emulator::Timing::CopiesAtOnce, emulator::Timing::CopiesLate}) {
    Memory memory(program);
    if (!kernel || !kernel->allows(program.grid.data(), memory.slots.data()))
      break;
    std::string wrong = kernel->run(program.grid.data(), memory.slots.data(), timing);
    if (wrong.empty())
      wrong = compare(program, wanted, memory, shadow);
    if (!wrong.empty())
      return {Outcome::Differs, (timing == emulator::Timing::CopiesLate ? "block IR, copies late: " : "block IR: ") + wrong};
  }
  Memory memory(program);
  std::string unsupported;
  int64_t ownRow = program.grid[0] == 2 ? cuda::longestOwnRow : 256; // longer ones are shared by clusters
  std::string wrong = emulator::runBlocks(module, disjoint, program.grid.data(), memory.slots.data(), unsupported, ownRow);
  if (!unsupported.empty() && !kernel)
    return {Outcome::Skipped, unsupported};
  if (wrong.empty() && unsupported.empty())
    wrong = compare(program, wanted, memory, shadow);
  return wrong.empty() ? Outcome() : Outcome{Outcome::Differs, wrong};
}

Outcome gpu(const Program &program, ModuleOp module, const Memory &wanted, const oracle::Shadow &shadow, std::string &errors) {
  Memory memory(program);
  std::string unsupported;
  runOnGpu(program, module, program.args.size() % 2, memory.arrays, unsupported);
  if (!unsupported.empty())
    return {Outcome::Skipped, errors.empty() ? unsupported : errors.substr(0, errors.find('\n'))};
  std::string difference = compare(program, wanted, memory, shadow);
  return difference.empty() ? Outcome() : Outcome{Outcome::Differs, difference};
}

/// Nothing is run, here or by the oracle.
Outcome assembler(const Program &program, ModuleOp module, std::string &errors) {
  OwningOpRef<ModuleOp> lowered = module.clone();
  if (failed(runPasses(*lowered, /*keepThreads=*/true)))
    return {Outcome::Differs, "the passes fail: " + errors};
  std::string unsupported, complaint = assemblersComplaint(*lowered, program.args.size() % 2, unsupported);
  if (!unsupported.empty())
    return {Outcome::Skipped, errors.empty() ? unsupported : errors.substr(0, errors.find('\n'))};
  return complaint.empty() ? Outcome() : Outcome{Outcome::Differs, complaint};
}

} // namespace

Outcome check(const Program &program, ModuleOp module, Against against) {
  std::string errors;
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  if (failed(verify(module)))
    return {Outcome::Differs, "the program does not verify: " + errors};
  if (against == Against::Assembler)
    try {
      return assembler(program, module, errors);
    } catch (const std::exception &error) {
      return {Outcome::Differs, error.what()};
    }
  oracle::Shadow shadow;
  Memory wanted(program);
  try {
    interpret(program, module, wanted, &shadow, /*late=*/false,
              /*tensorCores=*/against == Against::Gpu || against == Against::Blocks);
  } catch (const Error &error) {
    return {Outcome::Skipped, std::string("the oracle stops: ") + error.what()};
  }
  if (shadow.undetermined)
    return {Outcome::Skipped, "a decision hangs on a rounded value"};
  record(module, {program.args.size() % 2 != 0, /*fpContract=*/false});
  OwningOpRef<ModuleOp> lowered = module.clone();
  if (failed(runPasses(*lowered, against == Against::Blocks || against == Against::Gpu)))
    return {Outcome::Differs, "the passes fail: " + errors};
  try {
    if (against == Against::BlockPasses)
      return blockPasses(program, *lowered, wanted, shadow, errors);
    if (against == Against::Blocks)
      return blocks(program, *lowered, wanted, shadow);
    if (against == Against::Gpu)
      return gpu(program, *lowered, wanted, shadow, errors);
    if (against == Against::Machine)
      return machine(program, *lowered, wanted, shadow, errors);
    Memory memory(program);
    interpret(program, *lowered, memory, nullptr);
    std::string difference = compare(program, wanted, memory, shadow);
    return difference.empty() ? Outcome() : Outcome{Outcome::Differs, "after the passes, " + difference};
  } catch (const std::exception &error) {
    return {Outcome::Differs, error.what()};
  }
}

std::string guiltyPass(const Program &program, ModuleOp module, Against against) {
  oracle::Shadow shadow;
  Memory wanted(program);
  interpret(program, module, wanted, &shadow);
  PassManager all(module.getContext());
  buildPipeline(all);
  if (against == Against::BlockPasses)
    block::buildBlockPipeline(all);
  OwningOpRef<ModuleOp> current = module.clone();
  for (Pass &group : all.getPasses()) {
    // The pipeline is one adaptor over kernels; its text lists the passes.
    std::string text;
    llvm::raw_string_ostream out(text);
    group.printAsTextualPipeline(out);
    StringRef list = StringRef(text).substr(text.find('(') + 1).drop_back();
    SmallVector<StringRef> names;
    list.split(names, ',');
    for (StringRef name : names) {
      PassManager one(module.getContext());
      if (failed(parsePassPipeline(("tile.kernel(" + name + ")").str(), one)) || failed(one.run(*current)))
        return name.str();
      for (bool late : {false, true}) {
        Memory memory(program);
        interpret(program, *current, memory, nullptr, late);
        if (!compare(program, wanted, memory, shadow).empty())
          return name.str();
      }
    }
  }
  return {};
}

} // namespace tilery::fuzz
