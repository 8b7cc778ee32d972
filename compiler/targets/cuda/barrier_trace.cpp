#include "compiler/targets/cuda/barrier_trace.h"
#include "tilery/dtype.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

namespace tilery::cuda {
namespace {
using barriers::Event;
using barriers::SharedAddress;
using Number = std::optional<uint64_t>; // nothing: not known

struct Unknown {
  std::string what;
};

llvm::StringRef assemblyOf(const llvm::CallInst &call) {
  auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  return assembly ? llvm::StringRef(assembly->getAsmString()) : "";
}
uint32_t clusterOf(const llvm::Function &function) {
  uint32_t blocks = 1; // the attribute's absence leaves it
  function.getFnAttribute("nvvm.cluster_dim").getValueAsString().split(',').first.getAsInteger(10, blocks);
  return blocks;
}

/// The last number of the text: an immediate.
uint32_t lastNumber(llvm::StringRef text) {
  uint32_t number = 0;
  text.rtrim("; }").rsplit(' ').second.getAsInteger(10, number);
  return number;
}
uint32_t numberAfter(llvm::StringRef text, llvm::StringRef mark) {
  uint32_t number = 0;
  text.substr(text.find(mark) + mark.size()).take_while(llvm::isDigit).getAsInteger(10, number);
  return number;
}

/// What a piece of assembly is to the model, and the number that is written in it.
struct Decoded {
  enum Kind {
    Nothing,
    Thread,       // the thread's number
    Same,         // its argument
    Init,         // number: arrivals of a phase
    Arrive,       // number: bytes to come
    RemoteArrive, // at the barrier of another block
    Wait,
    Copy,
    Multiply, // number: columns of the product
    Commit,
    WaitReads, // number: groups that may go on
    MeetCluster,
    Meet,
    Strange
  } kind = Nothing;
  uint32_t number = 0;
};

Decoded decode(llvm::StringRef text) {
  if (text == "mov.u32 $0, %tid.x;")
    return {Decoded::Thread};
  if (text == "mov.b32 $0, $1;")
    return {Decoded::Same};
  if (text.starts_with("mbarrier.init.shared::cta.b64 [$0], "))
    return {Decoded::Init, lastNumber(text)};
  if (text.starts_with("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], "))
    return {Decoded::Arrive, lastNumber(text)};
  if (text.starts_with("mbarrier.arrive.shared::cta.b64 _, [$0]"))
    return {Decoded::Arrive};
  if (text.contains("mapa.shared::cluster.u32 remote, $0, $1;") && text.contains("mbarrier.arrive"))
    return {Decoded::RemoteArrive};
  if (text.contains("mbarrier.try_wait.parity"))
    return {Decoded::Wait};
  if (text.starts_with("cp.async.bulk.tensor.") && text.contains("d.shared::cluster.global"))
    return {Decoded::Copy};
  if (text.contains("wgmma.mma_async"))
    return {Decoded::Multiply, numberAfter(text, ".m64n")};
  if (text.starts_with("wgmma.commit_group"))
    return {Decoded::Commit};
  if (text.starts_with("wgmma.wait_group"))
    return {Decoded::WaitReads, lastNumber(text)};
  if (text.starts_with("barrier.cluster.arrive"))
    return {Decoded::MeetCluster};
  if (text.starts_with("bar.sync 0;"))
    return {Decoded::Meet};
  return {text.contains("mbarrier.") && !text.contains("fence.") ? Decoded::Strange : Decoded::Nothing};
}

/// Each text is read once: those of products are long, and run often.
class Decoder {
public:
  const Decoded &operator()(const llvm::CallInst &call) {
    auto [entry, fresh] = known.try_emplace(call.getCalledOperand());
    if (fresh)
      entry->second = decode(assemblyOf(call));
    return entry->second;
  }

private:
  llvm::DenseMap<const llvm::Value *, Decoded> known;
};

/// The arguments that say where a product's factors are in shared memory: A's (none: it is in registers) and B's.
llvm::SmallVector<unsigned, 4> descriptorsOf(const llvm::CallInst &call) {
  llvm::SmallVector<unsigned, 4> found;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (call.getArgOperand(i)->getType()->isIntegerTy(64))
      found.push_back(i);
  return found;
}

/// The arguments of assembly that the model needs.
llvm::SmallVector<unsigned, 4> wanted(const llvm::CallInst &call, const Decoded &decoded) {
  unsigned last = call.arg_size();
  switch (decoded.kind) {
  case Decoded::Init:
  case Decoded::Arrive:
  case Decoded::RemoteArrive:
  case Decoded::Wait:
  case Decoded::Strange: {
    llvm::SmallVector<unsigned, 4> all;
    for (unsigned i = 0; i < last; ++i)
      all.push_back(i);
    return all;
  }
  case Decoded::Copy:
    return {0, 1, 2};
  case Decoded::Multiply:
    return descriptorsOf(call);
  default:
    return {};
  }
}

/// One thread. Only what its branches and its events depend on is computed.
class Tracer {
public:
  Tracer(const llvm::Function &function, const GpuInfo &info, const TracedLaunch &launch, Decoder &decoder, uint32_t block,
         uint32_t thread)
      : function(function), info(info), launch(launch), decoder(decoder), block(block), thread(thread) {
    for (const llvm::BasicBlock &basic : function)
      for (const llvm::Instruction &instruction : basic) {
        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
          if (call->isInlineAsm())
            for (unsigned i : wanted(*call, decoder(*call)))
              need(call->getArgOperand(i));
        } else if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(&instruction); branch && branch->isConditional()) {
          need(branch->getCondition());
        } else if (auto *choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
          need(choice->getCondition());
        }
      }
    while (!work.empty())
      for (const llvm::Value *operand : work.pop_back_val()->operands())
        need(operand);
  }

  std::vector<Event> events;
  bool complete = false;

  void run() {
    const llvm::BasicBlock *before = nullptr, *at = &function.getEntryBlock();
    for (size_t steps = 0; at; ++steps) {
      if (steps > 20000 || events.size() > 20000)
        return; // enough rounds of the ring
      const llvm::BasicBlock *next = runBlock(*at, before);
      before = at, at = next;
    }
    complete = true;
  }

private:
  void need(const llvm::Value *value) {
    auto *user = llvm::dyn_cast<llvm::Instruction>(value);
    if (user && needed.insert(user).second)
      work.push_back(user);
  }

  const llvm::BasicBlock *runBlock(const llvm::BasicBlock &basic, const llvm::BasicBlock *before) {
    llvm::SmallVector<std::pair<const llvm::Value *, Number>, 8> phis;
    for (const llvm::PHINode &phi : basic.phis())
      if (needed.contains(&phi))
        phis.push_back({&phi, get(phi.getIncomingValueForBlock(before))});
    for (auto &[phi, number] : phis)
      values[phi] = number;
    for (const llvm::Instruction &instruction : basic) {
      if (llvm::isa<llvm::PHINode>(instruction))
        continue;
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        values[call] = runAssembly(*call);
      else if (needed.contains(&instruction))
        values[&instruction] = compute(instruction);
    }
    const llvm::Instruction *end = basic.getTerminator();
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(end)) {
      if (!branch->isConditional())
        return branch->getSuccessor(0);
      return branch->getSuccessor(known(branch->getCondition(), "a branch depends on data") & 1 ? 0 : 1);
    }
    if (auto *choice = llvm::dyn_cast<llvm::SwitchInst>(end)) {
      uint64_t number = known(choice->getCondition(), "a branch depends on data");
      for (auto &entry : choice->cases())
        if (entry.getCaseValue()->getZExtValue() == number)
          return entry.getCaseSuccessor();
      return choice->getDefaultDest();
    }
    return nullptr;
  }

  uint64_t known(const llvm::Value *value, const char *what) {
    if (Number number = get(value))
      return *number;
    throw Unknown{what};
  }

  Number get(const llvm::Value *value) {
    if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value))
      return constant->getBitWidth() <= 64 ? Number(constant->getZExtValue()) : std::nullopt;
    if (auto *argument = llvm::dyn_cast<llvm::Argument>(value)) {
      unsigned number = argument->getArgNo(), count = function.arg_size();
      if (number < info.maps.size())
        return number; // a tensor map is known by its number
      if (number + 3 >= count)
        return launch.grid[number + 3 - count];
      return argument->getType()->isIntegerTy() ? Number(fit(launch.argument, argument->getType())) : std::nullopt;
    }
    if (auto *global = llvm::dyn_cast<llvm::GlobalVariable>(value))
      return global->getAddressSpace() == 3 ? Number(1024) : std::nullopt; // the one that all shared memory is in
    if (auto *operation = llvm::dyn_cast<llvm::ConstantExpr>(value)) {
      unsigned opcode = operation->getOpcode();
      if (opcode == llvm::Instruction::PtrToInt || opcode == llvm::Instruction::AddrSpaceCast)
        return get(operation->getOperand(0));
      if (opcode == llvm::Instruction::Add)
        if (Number a = get(operation->getOperand(0)), b = get(operation->getOperand(1)); a && b)
          return fit(*a + *b, operation->getType());
      return std::nullopt;
    }
    auto found = values.find(value);
    return found == values.end() ? std::nullopt : found->second;
  }

  static uint64_t fit(uint64_t number, const llvm::Type *type) {
    unsigned width = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
    return width >= 64 ? number : number & ((uint64_t(1) << width) - 1);
  }

  Number compute(const llvm::Instruction &instruction) {
    const llvm::Type *type = instruction.getType();
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      return callOf(*call);
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
      Number condition = get(select->getCondition());
      return condition ? get(*condition & 1 ? select->getTrueValue() : select->getFalseValue()) : std::nullopt;
    }
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
      Number a = get(compare->getOperand(0)), b = get(compare->getOperand(1));
      llvm::Type *operand = compare->getOperand(0)->getType();
      if (!a || !b || !operand->isIntegerTy() || operand->getIntegerBitWidth() > 64)
        return std::nullopt;
      unsigned width = operand->getIntegerBitWidth();
      return llvm::ICmpInst::compare(llvm::APInt(width, *a, false, true), llvm::APInt(width, *b, false, true),
                                     compare->getPredicate());
    }
    if (!type->isIntegerTy() && !type->isPointerTy())
      return std::nullopt;
    if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
      Number from = get(cast->getOperand(0));
      if (!from || (type->isIntegerTy() && type->getIntegerBitWidth() > 64))
        return std::nullopt;
      if (llvm::isa<llvm::SExtInst>(cast))
        return fit(llvm::APInt(cast->getSrcTy()->getIntegerBitWidth(), *from, false, true).sext(64).getZExtValue(), type);
      if (llvm::isa<llvm::ZExtInst, llvm::TruncInst, llvm::PtrToIntInst, llvm::IntToPtrInst, llvm::AddrSpaceCastInst>(cast))
        return fit(*from, type);
      return std::nullopt;
    }
    if (llvm::isa<llvm::FreezeInst>(instruction))
      return get(instruction.getOperand(0));
    if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
      return binaryOf(*binary);
    return std::nullopt;
  }

  Number binaryOf(const llvm::BinaryOperator &op) {
    Number a = get(op.getOperand(0)), b = get(op.getOperand(1));
    if (!a || !b || op.getType()->getIntegerBitWidth() > 64)
      return std::nullopt;
    unsigned width = op.getType()->getIntegerBitWidth();
    llvm::APInt x(width, *a, false, true), y(width, *b, false, true);
    bool divides = op.getOpcode() == llvm::Instruction::UDiv || op.getOpcode() == llvm::Instruction::URem ||
                   op.getOpcode() == llvm::Instruction::SDiv || op.getOpcode() == llvm::Instruction::SRem;
    if (divides && y.isZero())
      return std::nullopt;
    switch (op.getOpcode()) {
    case llvm::Instruction::Add:
      return (x + y).getZExtValue();
    case llvm::Instruction::Sub:
      return (x - y).getZExtValue();
    case llvm::Instruction::Mul:
      return (x * y).getZExtValue();
    case llvm::Instruction::UDiv:
      return x.udiv(y).getZExtValue();
    case llvm::Instruction::URem:
      return x.urem(y).getZExtValue();
    case llvm::Instruction::SDiv:
      return x.sdiv(y).getZExtValue();
    case llvm::Instruction::SRem:
      return x.srem(y).getZExtValue();
    case llvm::Instruction::Shl:
      return x.shl(y).getZExtValue();
    case llvm::Instruction::LShr:
      return x.lshr(y).getZExtValue();
    case llvm::Instruction::AShr:
      return x.ashr(y).getZExtValue();
    case llvm::Instruction::And:
      return (x & y).getZExtValue();
    case llvm::Instruction::Or:
      return (x | y).getZExtValue();
    case llvm::Instruction::Xor:
      return (x ^ y).getZExtValue();
    default:
      return std::nullopt;
    }
  }

  Number callOf(const llvm::CallInst &call) {
    auto argument = [&](unsigned i) { return get(call.getArgOperand(i)); };
    auto order = [&](bool isSigned, bool least) -> Number {
      Number a = argument(0), b = argument(1);
      if (!a || !b || !call.getType()->isIntegerTy())
        return std::nullopt;
      unsigned width = call.getType()->getIntegerBitWidth();
      llvm::APInt x(width, *a, false, true), y(width, *b, false, true);
      bool less = isSigned ? x.slt(y) : x.ult(y);
      return less == least ? a : b;
    };
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
      return thread;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      return block;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
      return launch.blocks;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank:
      return block % clusterOf(function);
    case llvm::Intrinsic::nvvm_shfl_sync_idx_i32:
      return argument(1); // of a value that is the same in the warp, as far as its first threads see
    case llvm::Intrinsic::smin:
      return order(true, true);
    case llvm::Intrinsic::smax:
      return order(true, false);
    case llvm::Intrinsic::umin:
      return order(false, true);
    case llvm::Intrinsic::umax:
      return order(false, false);
    default:
      return std::nullopt;
    }
  }

  /// What assembly returns, if it matters: waits say that they are over.
  Number runAssembly(const llvm::CallInst &call) {
    const Decoded &decoded = decoder(call);
    auto argument = [&](unsigned i) { return uint32_t(known(call.getArgOperand(i), "an address depends on data")); };
    auto here = [&](uint32_t offset) { return SharedAddress{block, offset}; };
    auto add = [&](Event::Kind kind, SharedAddress at, uint32_t count = 0, SharedAddress data = {}) {
      events.push_back({kind, at, count, data});
    };
    switch (decoded.kind) {
    case Decoded::Nothing:
      break;
    case Decoded::Thread:
      return thread;
    case Decoded::Same:
      return get(call.getArgOperand(0));
    case Decoded::Init:
      add(Event::Init, here(argument(0)), decoded.number);
      break;
    case Decoded::Arrive:
      add(Event::Arrive, here(argument(0)), decoded.number);
      break;
    case Decoded::RemoteArrive:
      add(Event::Arrive, {argument(1), argument(0)});
      break;
    case Decoded::Wait:
      add(Event::Wait, here(argument(0)), argument(1));
      return 1;
    case Decoded::Copy: {
      uint32_t map = argument(1);
      if (map >= info.maps.size())
        throw Unknown{"a copy from an unknown tensor"};
      add(Event::Copy, here(argument(2)), uint32_t(info.maps[map].boxBytes()), here(argument(0)));
      break;
    }
    case Decoded::Multiply:
      readOperands(call, decoded.number);
      break;
    case Decoded::Commit:
      add(Event::CommitReads, {});
      break;
    case Decoded::WaitReads:
      add(Event::WaitReads, {}, decoded.number);
      break;
    case Decoded::MeetCluster:
      add(Event::Meet, {}, 1);
      break;
    case Decoded::Meet:
      add(Event::Meet, {});
      break;
    case Decoded::Strange:
      throw Unknown{"an instruction that the model does not know: " + assemblyOf(call).str()};
    }
    return std::nullopt;
  }

  // Of each operand in shared memory: where each of its blocks begins.
  void readOperands(const llvm::CallInst &call, unsigned n) {
    llvm::SmallVector<unsigned, 4> descriptors = descriptorsOf(call);
    for (unsigned argument : descriptors) {
      uint64_t bits = known(call.getArgOperand(argument), "an address depends on data");
      uint32_t start = (bits & 0x3fff) << 4, leading = (bits >> 16 & 0x3fff) << 4, rows = argument == descriptors.back() ? n : 64;
      // Along m or n the blocks (of a swizzled row: 128, 64 or 32 bytes) are `leading` bytes apart; along k everything from the start
      // on is one block.
      uint32_t side = 128u >> (bits >> 62);
      bool blocks = leading > 16;
      for (uint32_t row = 0; row < (blocks ? rows : 1); row += side)
        events.push_back({Event::Read, {block, start + row / side * leading}, 0, {}});
    }
  }

  const llvm::Function &function;
  const GpuInfo &info;
  const TracedLaunch &launch;
  Decoder &decoder;
  uint32_t block, thread;
  llvm::DenseSet<const llvm::Instruction *> needed;
  llvm::SmallVector<const llvm::Instruction *> work;
  llvm::DenseMap<const llvm::Value *, Number> values;
};

bool isCollective(const Event &event) {
  return event.kind != Event::Arrive && event.kind != Event::Copy && event.kind != Event::Init;
}

/// Adds the arrivals of another lane of the same warp, which runs in step.
std::vector<Event> withLane(const std::vector<Event> &first, const std::vector<Event> &lane) {
  std::vector<Event> result;
  auto next = lane.begin();
  auto takeArrivals = [&] { // up to the lane's next collective event, and that one
    for (; next != lane.end() && !isCollective(*next); ++next)
      if (next->kind == Event::Arrive)
        result.push_back(*next);
    if (next != lane.end())
      ++next;
  };
  for (const Event &event : first) {
    if (isCollective(event))
      takeArrivals();
    result.push_back(event);
  }
  takeArrivals();
  return result;
}
} // namespace

BarrierTrace traceBarriers(const llvm::Function &function, const GpuInfo &info, const TracedLaunch &launch) {
  BarrierTrace result;
  uint32_t cluster = clusterOf(function);
  Decoder decoder;
  try {
    for (uint32_t block = 0; block < cluster; ++block)
      for (uint32_t group = 0; group < info.threads / 128; ++group) {
        barriers::Agent agent{"", block, {}, true};
        for (uint32_t lane = 0; lane < cluster; ++lane) {
          Tracer tracer(function, info, launch, decoder, block, 128 * group + lane);
          tracer.run();
          agent.events = lane ? withLane(agent.events, tracer.events) : tracer.events;
          agent.complete &= tracer.complete;
        }
        bool produces = llvm::any_of(agent.events, [](const Event &event) { return event.kind == Event::Copy; });
        agent.name = (produces ? "the producer" : "warpgroup " + std::to_string(group)) +
                     (cluster > 1 ? " of block " + std::to_string(block) : "");
        result.agents.push_back(std::move(agent));
      }
  } catch (const Unknown &unknown) {
    result.unknown = unknown.what;
  }
  return result;
}

std::optional<std::string> checkBarriers(const llvm::Function &function, const GpuInfo &info, int64_t depth, unsigned stages,
                                         std::string *unknown) {
  uint32_t cluster = clusterOf(function);
  auto launchOf = [&](uint32_t tiles, int64_t steps) {
    return TracedLaunch{{tiles, steps > 1 ? 1u : 3u, cluster}, cluster, steps * depth};
  };
  auto traceOf = [&](uint32_t tiles, int64_t steps) { return traceBarriers(function, info, launchOf(tiles, steps)); };
  // More steps than stages, so that every barrier sees several phases, over three tiles a block; tiles of one step; tiles of none.
  std::vector<BarrierTrace> traces = {traceOf(1, 1), traceOf(1, 0)};
  // Where the number of steps is fixed it may be large: two tiles of it say all.
  bool fixed = traces[0].agents == traces[1].agents;
  if (fixed)
    traces.clear();
  traces.insert(traces.begin(), traceOf(fixed ? 2 : 3, 2 * stages + 1));
  for (BarrierTrace &trace : traces) {
    if (&trace == &traces.front() && trace.unknown.empty() &&
        llvm::none_of(trace.agents, [&](const barriers::Agent &agent) { return agent.events.size() > 3 * stages; }))
      trace.unknown = "it has too few barrier operations";
    if (!trace.unknown.empty()) {
      if (unknown)
        *unknown = trace.unknown;
      return std::nullopt;
    }
    if (std::optional<std::string> fault = barriers::faultOf(trace.agents))
      return fault;
  }
  return std::nullopt;
}

} // namespace tilery::cuda
