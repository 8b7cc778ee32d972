// Ops of BlockRole.td; blocks, their programs and their clusters.
#include "compiler/oracle/block.h"
#include "compiler/source_chain.h"

using namespace mlir;

namespace tilery::oracle {

std::string whoText(const Interpreter &in) {
  std::string who = "program " + in.programText();
  if (!in.role->op)
    return who;
  std::string instance = in.role->op.instanceCount() > 1 ? " (instance " + std::to_string(in.role->instance) + ")" : "";
  return "role @" + in.role->op.getSymName().str() + instance + " of " + who;
}

static void finishRole(Interpreter &in) { finishStores(in); }

void finishBlock(Interpreter &in) {
  finishRole(in);
  for (const Ring &ring : in.block->rings)
    for (const SlotState &slot : ring->slots)
      if (slot.published && !slot.taken)
        in.fail(ring->op, "position " + std::to_string(slot.position) + " of this ring is published, but nobody takes it");
}

static void roles(Interpreter &in, block::RolesOp op) {
  std::deque<RoleState> states;
  std::deque<Interpreter> interpreters;
  for (auto role : op.getBody().getOps<block::RoleOp>())
    for (unsigned i = 0; i < role.instanceCount(); ++i) {
      states.push_back({role, i, {}, {}});
      interpreters.emplace_back(in, 0, nullptr).role = &states.back();
    }
  size_t running = interpreters.size();
  for (Interpreter &role : interpreters)
    in.run.scheduler.spawn([&role, &running] {
      Block &body = role.role->op.getBody().front();
      if (body.getNumArguments()) {
        Tile who({Format::Int, 32}, {});
        who.lanes[0] = role.role->instance;
        role.set(body.getArgument(0), std::move(who));
      }
      role.runBlock(body);
      finishRole(role);
      --running;
    });
  in.run.scheduler.waitUntil([&running] { return running == 0; });
}

static SmallVector<RuntimeValue> valuesOf(Interpreter &in, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return in.get(value); });
}

static void programs(Interpreter &in, block::ProgramsOp op) {
  Block &body = op.getBody().front();
  SmallVector<RuntimeValue> carried = valuesOf(in, op.getInits());
  for (int64_t id : in.block->programs) {
    in.countStep(op);
    in.enterProgram(id);
    for (unsigned d = 0; d < 3; ++d) {
      Tile coordinate({Format::Int, 32}, {});
      coordinate.lanes[0] = in.programId[d];
      in.set(body.getArgument(d), std::move(coordinate));
    }
    for (auto [argument, value] : llvm::zip_equal(op.getCarried(), carried))
      in.set(argument, std::move(value));
    carried = valuesOf(in, in.runBlock(body)->getOperands());
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), carried))
    in.set(result, std::move(value));
}

static void turn(Interpreter &in, block::TurnOp op) {
  std::shared_ptr<uint64_t> turns = in.as<Baton>(op.getBaton()).turns;
  unsigned instances = in.role->op ? in.role->op.instanceCount() : 1, instance = in.role->instance;
  in.await(op, whoText(in) + " waits for its turn, which nobody hands on", [=] { return *turns % instances == instance; });
  SmallVector<RuntimeValue> results = valuesOf(in, in.runBlock(op.getBody().front())->getOperands());
  ++*turns;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    in.set(result, std::move(value));
}

static void clusterSync(Interpreter &in, block::ClusterSyncOp op) {
  Meeting &meeting = in.block->cluster->meetings[{in.role->op, in.role->instance}];
  uint64_t round = meeting.round;
  if (++meeting.arrived == in.block->cluster->blocks.size()) {
    meeting.arrived = 0;
    ++meeting.round;
  }
  in.await(op, whoText(in) + " waits for the other blocks of its cluster", [&meeting, round] { return meeting.round != round; });
}

void addBlockRoleHandlers(Handlers &table) {
  table.add<block::RolesOp>(roles);
  table.add<block::ProgramsOp>(programs);
  table.add<block::ReturnIfOp>([](Interpreter &in, block::ReturnIfOp op) { in.returns = in.decide(op.getCondition()); });
  table.add<block::TurnOp>(turn);
  table.add<block::BatonOp>(
      [](Interpreter &in, block::BatonOp op) { in.set(op.getResult(), Baton{std::make_shared<uint64_t>(0)}); });
  table.add<block::SyncOp>([](Interpreter &, block::SyncOp) {});
  table.add<block::FenceOp>([](Interpreter &, block::FenceOp) {});
  table.add<block::ClusterRankOp>([](Interpreter &in, block::ClusterRankOp op) {
    Tile rank({Format::Int, 32}, {});
    rank.lanes[0] = in.block->rank;
    in.set(op.getResult(), std::move(rank));
  });
  table.add<block::ClusterSyncOp>(clusterSync);
}

// ---- launches

bool isBlockKernel(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa_and_nonnull<block::BlockDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The linear ids of all programs in the order in which blocks take them. What has most steps is not known here: any order is right.
static std::vector<int64_t> orderOf(block::ProgramsOp op, const std::array<uint32_t, 3> &grid) {
  std::vector<int64_t> order;
  int64_t x = grid[0], y = grid[1], rows = op.getGroup().value_or(1);
  for (int64_t z = 0; z < grid[2]; ++z)
    if (op.getOrder() != block::Order::grouped)
      for (int64_t i = 0; i < x * y; ++i)
        order.push_back(z * x * y + i);
    else
      for (int64_t group = 0; group < x; group += rows)
        for (int64_t j = 0; j < y; ++j)
          for (int64_t i = group; i < std::min(group + rows, x); ++i)
            order.push_back((z * y + j) * x + i);
  if (op.getOrder() == block::Order::longest)
    std::reverse(order.begin(), order.end());
  return order;
}

/// The programs of each block: one each, or, where they are a loop, all of them dealt to a few blocks.
static std::vector<std::vector<int64_t>> dealPrograms(tile::KernelOp kernel, const std::array<uint32_t, 3> &grid) {
  int64_t count = int64_t(grid[0]) * grid[1] * grid[2];
  constexpr int64_t persistent = 3; // blocks: some with two programs, some with one, in small grids
  block::ProgramsOp loop;
  kernel.walk([&](block::ProgramsOp op) { loop = op; });
  std::vector<std::vector<int64_t>> blocks(loop ? std::min(count, persistent) : count);
  if (!loop)
    for (int64_t id = 0; id < count; ++id)
      blocks[id] = {id};
  else
    for (auto [number, id] : llvm::enumerate(orderOf(loop, grid)))
      blocks[number % blocks.size()].push_back(id);
  return blocks;
}

static void runCluster(Run &run, tile::KernelOp kernel, const std::vector<int64_t> &programs, ArrayRef<uint64_t> args) {
  Cluster cluster;
  std::deque<BlockState> blocks(block::clusterSize(&kernel.getBody().front().front()));
  size_t running = blocks.size();
  for (auto [rank, state] : llvm::enumerate(blocks)) {
    state.programs = programs;
    state.rank = rank;
    state.cluster = &cluster;
    cluster.blocks.push_back(&state);
  }
  auto runBlock = [&](BlockState &state) {
    RoleState whole;
    Interpreter in(run);
    in.block = &state;
    in.role = &whole;
    in.enterProgram(programs.empty() ? 0 : programs[0]);
    bindArguments(in, kernel, args);
    in.runBlock(kernel.getBody().front());
    finishBlock(in);
    --running;
  };
  if (running == 1)
    return runBlock(blocks[0]);
  for (BlockState &state : blocks)
    run.scheduler.spawn([&] { runBlock(state); });
  run.scheduler.waitUntil([&] { return running == 0; });
}

void runBlocks(Run &run, tile::KernelOp kernel, ArrayRef<uint64_t> args) {
  std::vector<std::vector<int64_t>> blocks = dealPrograms(kernel, run.grid);
  size_t running = blocks.size();
  try {
    for (const std::vector<int64_t> &programs : blocks) {
      auto body = [&] {
        runCluster(run, kernel, programs, args);
        --running;
      };
      if (run.interleaved)
        run.scheduler.spawn(body);
      else
        body();
    }
    run.scheduler.waitUntil([&] { return running == 0; });
  } catch (Scheduler::Deadlock) {
    std::string text;
    for (const Waiting &waiting : run.waiting)
      text += (text.empty() ? "" : "; ") + waiting.text;
    throw Error({Diagnostic::Kind::Runtime,
                 "roles wait for each other for ever: " + text,
                 {},
                 run.waiting.empty() ? decltype(sourceChain(kernel.getLoc())){} : sourceChain(run.waiting.front().op->getLoc())});
  }
}

} // namespace tilery::oracle
