// check-barriers: roles that use their barriers in a wrong phase, count or number of bytes are errors.
//
// Each role is run as far as its control flow, its barriers and its buffers do not depend on data or on the kernel's arguments; what does
// leaves the roles unchecked (the oracle finds what goes wrong there). Roles of block IR have loops whose ends hang on arguments: they are
// run for several numbers of steps, and where more hangs on arguments or data, with several assumptions on these; of long ones the
// beginning is checked. Roles of block IR that stay unknown, or are wrong with an assumption, get the attribute `block.unchecked`, which
// says why: they are not to be launched.
#include "compiler/barriers/check_barriers.h"
#include "compiler/analysis/barrier_names.h"
#include "compiler/barriers/role_run.h"
#include "compiler/source_chain.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {
using barriers::Agent;
using barriers::Event;
using barriers::Fault;

int lineOf(Location location) {
  std::vector<SourceLocation> chain = sourceChain(location);
  return chain.empty() ? 0 : chain.front().line;
}

/// "the role of threads 128 to 255"
std::string nameOf(RolesOp roles, size_t number) {
  auto who = roles->getAttrOfType<ArrayAttr>("tile.who");
  auto ranges = who ? dyn_cast<DenseI64ArrayAttr>(who[number]) : DenseI64ArrayAttr();
  if (!ranges)
    return "role " + std::to_string(number);
  std::string threads;
  for (size_t i = 0; i + 1 < ranges.asArrayRef().size(); i += 2)
    threads += (i ? ", " : "") + std::to_string(ranges[i]) +
               (ranges[i + 1] - ranges[i] > 1 ? " to " + std::to_string(ranges[i + 1] - 1) : "");
  return (roles.getThreads()[number] > 1 ? "the role of threads " : "the role of thread ") + threads;
}

struct CheckBarriers : PassWrapper<CheckBarriers, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckBarriers)
  StringRef getArgument() const final { return "check-barriers"; }
  StringRef getDescription() const final { return "wrong phases, counts and bytes of barriers are errors"; }

  void runOnOperation() final {
    getOperation().walk([&](Operation *op) {
      auto certain = [&](auto roles, auto... assumed) {
        if (std::optional<Fault> fault = faultOf(roles, assumed...)) {
          report(op, *fault);
          signalPassFailure();
        }
      };
      try {
        if (auto roles = dyn_cast<RolesOp>(op))
          certain(roles);
        else if (auto roles = dyn_cast<block::RolesOp>(op))
          certain(roles, std::nullopt);
      } catch (const UnknownRole &) {
        if (auto roles = dyn_cast<block::RolesOp>(op))
          if (std::string why = faultIfAssumed(roles); !why.empty())
            op->setAttr("block.unchecked", StringAttr::get(op->getContext(), why));
      }
    });
  }

  /// At the place where it shows; the hint is for who wrote the barriers.
  static void report(Operation *roles, const Fault &fault) {
    auto *at = isa<RolesOp>(roles) ? static_cast<const Operation *>(fault.source) : nullptr;
    InFlightDiagnostic error = emitError(at ? const_cast<Operation *>(at)->getLoc() : roles->getLoc());
    error << "the barriers of these roles are wrong: " << fault.text;
    for (auto &[source, name] : fault.waiting)
      if (int line = source ? lineOf(const_cast<Operation *>(static_cast<const Operation *>(source))->getLoc()) : 0)
        error << "; line " << line << " waits for " << name << " meanwhile";
    if (isa<RolesOp>(roles))
      error.attachNote()
          << "hint: a barrier ends phase 0, 1, 2, ... each time all arrivals that it counts are there; a wait for phase n "
             "has parity n % 2, and parity 1 does not wait at a new barrier";
  }

  /// What is wrong with one of several assumptions, or keeps roles unknown even so. Empty if nothing is.
  std::string faultIfAssumed(block::RolesOp roles) {
    try {
      for (RoleRun::Assumption assumed : {RoleRun::Assumption{true, 1}, {true, 70}, {true, 700}, {false, 70}})
        if (auto fault = faultOf(roles, assumed))
          return fault->text;
      return "";
    } catch (const UnknownRole &unknown) {
      return unknown.why;
    }
  }

  /// Loops whose ends hang on arguments are run for no step, for one, and for more steps than a ring has slots.
  std::optional<Fault> faultOf(block::RolesOp roles, std::optional<RoleRun::Assumption> assumed) {
    SetVector<Value> ends, rings;
    roles.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && !roles->isAncestor(loop.getUpperBound().getParentRegion()->getParentOp()))
        ends.insert(loop.getUpperBound());
      for (Value operand : op->getOperands())
        if (isa<block::RingType>(operand.getType()))
          rings.insert(operand);
    });
    int64_t most = 0;
    for (Value ring : rings)
      most = std::max(most, cast<block::RingType>(ring.getType()).getCount());
    for (int64_t steps : {int64_t(0), int64_t(1), 2 * most + 1}) {
      DenseMap<Value, RoleRun::Number> outside;
      for (Value end : ends)
        if (!matchPattern(end, m_Constant()))
          outside[end] = steps;
      if (auto fault = faultOf(roles, rings.getArrayRef(), outside, assumed))
        return fault;
    }
    return std::nullopt;
  }

  static void initBarriers(Agent &agent, BarrierMemory &memory, block::RolesOp roles, ArrayRef<Value> rings) {
    for (Value value : rings) {
      auto ring = value.getDefiningOp<block::RingOp>();
      for (int64_t slot = 0; slot < ring.getType().getCount(); ++slot) {
        agent.events.push_back({Event::Init, memory.full(ring, slot), 1, {}});
        agent.events.push_back({Event::Init, memory.empty(ring, slot), ring.getTakers(), {}});
      }
    }
    SetVector<std::pair<Value, unsigned>> batons;
    roles.walk([&](block::TurnOp turn) {
      if (unsigned instances = turn->getParentOfType<block::RoleOp>().instanceCount(); instances > 1)
        batons.insert({turn.getBaton(), instances});
    });
    for (auto [baton, instances] : batons)
      for (unsigned who = 0; who < instances; ++who)
        agent.events.push_back({Event::Init, memory.turn(baton, instances, who), 1, {}});
  }

  std::optional<Fault> faultOf(block::RolesOp roles, ArrayRef<Value> rings, const DenseMap<Value, RoleRun::Number> &outside,
                               std::optional<RoleRun::Assumption> assumed) {
    BarrierMemory memory;
    std::vector<Agent> agents;
    SmallVector<std::pair<block::RoleOp, unsigned>> instances;
    for (auto role : roles.getBody().getOps<block::RoleOp>())
      for (unsigned instance = 0; instance < role.instanceCount(); ++instance)
        instances.push_back({role, instance});
    for (auto [role, instance] : instances) {
      std::string number = role.instanceCount() > 1 ? " (instance " + std::to_string(instance) + ")" : "";
      Agent agent{"role @" + role.getSymName().str() + number, 0, {}, true};
      if (agents.empty())
        initBarriers(agent, memory, roles, rings);
      agent.events.push_back({Event::Meet, {}, 0, {}});
      DenseMap<Value, RoleRun::Number> known = outside;
      for (BlockArgument who : role.getBody().getArguments())
        known[who] = instance;
      RoleRun run(memory, known);
      run.assumed = assumed;
      try {
        run.run(role.getBody().front());
      } catch (const UnknownRole &unknown) {
        if (!unknown.isLong)
          throw;
        agent.complete = false;
      }
      agent.events.insert(agent.events.end(), run.events.begin(), run.events.end());
      agents.push_back(std::move(agent));
    }
    return barriers::faultOf(agents);
  }

  std::optional<Fault> faultOf(RolesOp roles) {
    BarrierMemory memory;
    DenseMap<Value, RoleRun::Number> outside;
    std::vector<Agent> agents;
    SetVector<Value> rings;
    roles.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (isa<BarrierType>(operand.getType()))
          rings.insert(operand);
    });
    // Those that others than these roles use may be in any phase.
    for (Value ring : rings)
      if (!ring.getDefiningOp<BarrierAllocOp>() || ring.getParentBlock() != roles->getBlock() ||
          llvm::any_of(ring.getUsers(), [&](Operation *user) { return !roles->isProperAncestor(user); }))
        throw UnknownRole{"others use its barriers"};
    barriers::Names names;
    for (auto [number, body] : llvm::enumerate(roles.getBodies())) {
      Agent agent{nameOf(roles, number), 0, {}, true};
      if (number == 0)
        for (Value ring : rings)
          for (auto [i, arrivals] : llvm::enumerate(ring.getDefiningOp<BarrierAllocOp>().getArrivals())) {
            barriers::SharedAddress at{0, memory.of(ring, 8 * cast<BarrierType>(ring.getType()).getCount()) + uint32_t(8 * i)};
            auto each = uint32_t(memory.arrivalsAnEvent(ring));
            agent.events.push_back({Event::Init, at, uint32_t(arrivals) / each, {}});
            names[at] = {analysis::barrierName(ring, i), each};
          }
      agent.events.push_back({Event::Meet, {}, 0, {}});
      RoleRun run(memory, outside);
      run.run(body.front());
      agent.events.insert(agent.events.end(), run.events.begin(), run.events.end());
      agents.push_back(std::move(agent));
    }
    return rings.empty() ? std::nullopt : barriers::faultOf(agents, names);
  }
};
} // namespace

std::unique_ptr<Pass> tilery::createCheckBarriers() { return std::make_unique<CheckBarriers>(); }
