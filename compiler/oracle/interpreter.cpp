#include "compiler/oracle/interpreter.h"
#include "compiler/source_chain.h"
#include <chrono>

using namespace mlir;

namespace tilery::oracle {

const Handlers &handlers() {
  static const Handlers all = [] {
    Handlers table;
    for (auto add : {addArithHandlers, addCastHandlers, addMathHandlers, addControlHandlers, addShapeHandlers, addAccessHandlers,
                     addBufferHandlers, addReduceHandlers, addDotHandlers, addAtomicHandlers, addRegionHandlers,
                     addThreadHandlers, addDebugHandlers, addMachineHandlers, addHostHandlers, addBlockMemoryHandlers,
                     addBlockRingHandlers, addBlockProductHandlers, addBlockRoleHandlers})
      add(table);
    return table;
  }();
  return all;
}

static int64_t nowNanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Run::Run(const Options &options) : options(options), memory(options), asked(nowNanoseconds()) {}

void Run::mayEnd() {
  constexpr int64_t often = 50'000'000;
  if (int64_t now = nowNanoseconds(); now - asked >= often) {
    asked = now;
    // A signal's handler may need more stack than a fiber has.
    scheduler.outside([this] {
      if (options.interrupted())
        throw Interrupted();
    });
  }
}

void Run::numberValues(Operation *function) {
  auto add = [&](Value value) { number.try_emplace(value, number.size()); };
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          add(argument);
  });
}

Interpreter::Interpreter(Interpreter &parent, unsigned thread, ThreadGroup *threads)
    : run(parent.run), programId(parent.programId), program(parent.program), threads(threads), thread(thread),
      block(parent.block), role(parent.role), parent(&parent), slots(parent.slots.size()) {}

const RuntimeValue &Interpreter::get(Value value) const {
  unsigned slot = run.number.lookup(value);
  for (const Interpreter *frame = this; frame; frame = frame->parent)
    if (frame->slots[slot])
      return *frame->slots[slot];
  llvm_unreachable("a value is used before it is defined");
}

void Interpreter::set(Value value, RuntimeValue content) {
  auto &slot = slots[run.number.lookup(value)];
  if (slot)
    *slot = std::move(content);
  else
    slot = std::make_unique<RuntimeValue>(std::move(content));
}

void Interpreter::enterProgram(int64_t id) {
  program = id;
  programId = {uint32_t(id % run.grid[0]), uint32_t(id / run.grid[0] % run.grid[1]), uint32_t(id / run.grid[0] / run.grid[1])};
}

Operation *Interpreter::runBlock(Block &block) {
  Operation *terminator = block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  for (Operation &op : block) {
    if (&op == terminator)
      break;
    execute(&op);
    if (returns) {
      returns = false;
      break;
    }
  }
  return terminator;
}

void Interpreter::countStep(Operation *op) {
  ++run.steps;
  if (run.options.interrupted && run.steps % 4 == 0)
    run.mayEnd();
  if (run.options.maxSteps && run.steps > run.options.maxSteps)
    fail(op, "this launch does not seem to end: it was stopped after " + std::to_string(run.options.maxSteps) + " steps");
}

void Interpreter::execute(Operation *op) {
  auto entry = handlers().table.find(op->getName().getTypeID());
  if (entry == handlers().table.end())
    fail(op, "the oracle does not know the operation " + op->getName().getStringRef().str(), {},
         Diagnostic::Kind::NotImplemented);
  countStep(op);
  entry->second.run(*this, op);
}

std::string Interpreter::programText() const {
  return "(" + std::to_string(programId[0]) + ", " + std::to_string(programId[1]) + ", " + std::to_string(programId[2]) + ")";
}

void Interpreter::fail(Operation *op, std::string message, std::string hint, Diagnostic::Kind kind) const {
  throw Error({kind, std::move(message), std::move(hint), sourceChain(op->getLoc())});
}

void Interpreter::besideIterations(Operation *op, size_t outer, llvm::function_ref<std::string(Iterations &)> access,
                                   llvm::function_ref<std::string()> does) const {
  for (size_t i = outer; i < loops.size(); ++i)
    if (std::string other = access(*loops[i]); !other.empty())
      fail(
          op,
          "program " + programText() + ", iteration " + loops[i]->numberText() + " of a parallel loop " + does() + ", " + other,
          "iterations of a parallel loop have no order: write to other memory than the loop reads, use a serial loop, or atomics",
          Diagnostic::Kind::Index);
}

void Interpreter::await(Operation *op, std::string what, const std::function<bool()> &condition) {
  auto entry = run.waiting.insert(run.waiting.end(), Waiting{op, std::move(what)});
  run.scheduler.waitUntil(condition);
  run.waiting.erase(entry);
}

void Interpreter::requireDefined(const Tile &value, int64_t lane) {
  Unwritten from = value.undefinedAt(lane);
  if (!from)
    return;
  std::string name = from.address ? run.memory.nameOf(from.address, from.load) + ", which" : "a value that";
  fail(from.load, "program " + programText() + " uses " + name + " nothing has written before it is read here",
       "write the memory first, or mask the read");
}

void Interpreter::requireDecided(const Tile &value) {
  for (int64_t lane = 0; lane < int64_t(value.undefined.size()); ++lane)
    requireDefined(value, lane);
  if (run.options.shadow)
    for (const Interval &range : value.ranges)
      if (!range.isExact())
        run.options.shadow->undetermined = true;
}

int64_t Interpreter::decide(Value value) {
  const Tile &scalar = tile(value);
  requireDecided(scalar);
  return int64_t(scalar.lanes[0]);
}

bool isLanewise(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto entry = handlers().table.find(op.getName().getTypeID());
    if (entry == handlers().table.end() || !entry->second.lanewise)
      return false;
  }
  return true;
}

Tile lanewiseResult(Element element, ArrayRef<const Tile *> operands) {
  const Tile *widest = operands[0];
  for (const Tile *operand : operands)
    if (operand->size() > widest->size() || (operand->size() == widest->size() && operand->shape.size() > widest->shape.size()))
      widest = operand;
  Tile result(element, widest->shape);
  for (const Tile *operand : operands)
    if (!operand->undefined.empty())
      for (int64_t i = 0; i < result.size(); ++i)
        if (Unwritten from = operand->undefinedAt(laneOf(*operand, i)))
          result.setUndefined(i, from);
  return result;
}

bool hasRanges(ArrayRef<const Tile *> operands) {
  return llvm::any_of(operands, [](const Tile *operand) { return !operand->ranges.empty(); });
}

void forgetRounded(Tile &result, ArrayRef<const Tile *> operands) {
  for (const Tile *operand : operands)
    if (!operand->ranges.empty())
      for (int64_t i = 0; i < result.size(); ++i)
        if (!operand->ranges[laneOf(*operand, i)].isExact())
          result.setRange(i, unknown());
}

} // namespace tilery::oracle
