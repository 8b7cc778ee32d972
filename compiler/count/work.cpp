#include "compiler/count/work.h"
#include "compiler/count/functions.h"
#include "compiler/count/neighbours.h"
#include "compiler/count/nodes.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/emitter.h"
#include "compiler/source_chain.h"

using namespace mlir;

namespace tilery::count {
namespace {

constexpr uint64_t mostSteps = 20'000'000; ///< a tenth of a second or so

/// Whether code of a CPU computes all lanes of what is loaded, those too that do not exist: reductions and scans do. What goes through
/// elementwise operations to stores ends where they do.
bool takesAllLanes(Operation *access) {
  if (isa<tile::StoreOp>(access))
    return false;
  SmallVector<Operation *> work{access};
  llvm::DenseSet<Operation *> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isa<tile::StoreOp, tile::DotOp>(user) || isa<tile::ContractOp>(user->getParentOp()))
        continue;
      if (!lower::isElementwise(user) && !isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::PermuteOp>(user))
        return true;
      if (seen.insert(user).second)
        work.push_back(user);
    }
  return false;
}

class Counter {
public:
  Counter(tile::KernelOp kernel, std::array<uint32_t, 3> grid, ArrayRef<uint64_t> args, bool onCpu)
      : kernel(kernel), reader(kernel, grid), scalars(reader.scalars), onCpu(onCpu) {
    work.kernel = kernel.getSymName().str();
    work.grid = grid;
    for (BlockArgument argument : kernel.getBody().getArguments()) {
      unsigned number = argument.getArgNumber();
      auto name = kernel.getArgAttrOfType<StringAttr>(number, "tile.name");
      Traffic traffic;
      traffic.name = name ? name.str() : std::to_string(number);
      traffic.address = args[number];
      work.arguments.push_back(std::move(traffic));
      if (argument.getType().isSignlessInteger())
        scalars.values[scalars.slot(argument)] = {
            Scalars::kept(int64_t(args[number]), argument.getType().getIntOrFloatBitWidth()), true};
    }
  }

  Work run() {
    std::vector<Node> nodes = reader.read(kernel.getBody().front());
    for (auto &[op, why] : reader.unsure)
      unsure(op, why);
    std::array<uint64_t, 3> extents{}; // those that programs differ along
    double alike = 1;
    for (unsigned axis = 0; axis < 3; ++axis) {
      bool differ = reader.decides >> axis & 1;
      extents[axis] = differ ? work.grid[axis] : 1;
      alike *= differ ? 1 : work.grid[axis];
    }
    uint64_t programs = extents[0] * extents[1] * extents[2];
    auto program = [&](uint64_t id, double times) {
      scalars.values[reader.pid[0]] = {int64_t(id % extents[0]), true};
      scalars.values[reader.pid[1]] = {int64_t(id / extents[0] % extents[1]), true};
      scalars.values[reader.pid[2]] = {int64_t(id / extents[0] / extents[1]), true};
      execute(nodes, times);
    };
    program(0, 1); // how long one takes
    clear(nodes);
    uint64_t counted = std::clamp<uint64_t>(mostSteps / std::max<uint64_t>(steps, 1), 1, programs);
    if (counted < programs)
      unsure(kernel, "counted for " + std::to_string(counted) + " of " + std::to_string(programs) + " programs");
    double times = double(programs) / double(counted);
    for (uint64_t i = 0; i < counted; ++i)
      program(counted == programs ? i : uint64_t(double(i) * times), alike * times);
    report(nodes, Node::Product);
    report(nodes, Node::Access);
    reportApart(nodes);
    if (onCpu)
      reportFunctions(nodes);
    return std::move(work);
  }

private:
  // -- counting
  void execute(std::vector<Node> &nodes, double times) {
    for (Node &node : nodes)
      execute(node, times);
  }

  /// Elements of a dimension that exist.
  int64_t existing(Operation *op, Extent &extent) {
    int64_t count = extent.size;
    if (extent.hi >= 0) {
      Known lo = extent.lo < 0 ? Known{0, true} : scalars.values[extent.lo], hi = scalars.values[extent.hi];
      if (lo.is && hi.is)
        count = std::max<int64_t>(std::min(hi.number, extent.size) - std::max<int64_t>(lo.number, 0), 0);
      else
        unsure(op, "how many elements exist hangs on data: all are counted");
    }
    extent.most = std::max(extent.most, count);
    return count;
  }

  /// Of a product's rows, columns or K that exist: those that are computed, as columns fill vectors.
  static int64_t computedOnCpu(int64_t count, bool areColumns, int64_t size) {
    constexpr int64_t vector = 16;
    return areColumns ? std::min<int64_t>(llvm::alignTo(count, vector), size) : count;
  }

  /// Elements that exist; `distinct`: in places of their own.
  double existing(Node &node, bool distinct) {
    double product = 1;
    for (Extent &extent : node.extents) {
      int64_t count = existing(node.op, extent);
      if (distinct && extent.stride >= 0 && scalars.values[extent.stride].is && !scalars.values[extent.stride].number)
        count = std::min<int64_t>(count, 1);
      product *= double(count);
    }
    return product;
  }

  void execute(Node &node, double times) {
    ++steps;
    auto &values = scalars.values;
    switch (node.kind) {
    case Node::Scalar:
      scalars.run(node.step);
      break;
    case Node::Tally:
      work.operations += node.amount * times;
      node.lanes += node.amount * times;
      break;
    case Node::Access: {
      double lanes = 1;
      for (const Extent &extent : node.extents)
        lanes *= double(extent.size);
      node.lanes += lanes * times;
      node.existing += existing(node, false) * times;
      double bytes = existing(node, true) * node.amount * times;
      if (node.argument < 0)
        return unsure(node.op, "it is not known which argument is read or written here");
      Traffic &traffic = work.arguments[node.argument];
      (node.loads && node.stores ? traffic.updated : node.loads ? traffic.loaded : traffic.stored) += bytes;
      break;
    }
    case Node::Product: {
      double whole = node.amount;
      for (auto [d, extent] : llvm::enumerate(node.extents))
        whole *= double(onCpu && extent.isCut ? computedOnCpu(existing(node.op, extent), d == 1, extent.size) : extent.size);
      double used = node.amount * existing(node, false);
      work.products += used * times;
      work.paddedProducts += whole * times;
      node.lanes += whole * times;
      node.existing += used * times;
      break;
    }
    case Node::For: {
      auto &slots = node.slots;
      for (size_t i = 4; i < slots.size(); i += 4)
        values[slots[i + 1]] = values[slots[i]];
      Known lower = values[slots[0]], upper = values[slots[1]], step = values[slots[2]];
      int64_t turns = 1;
      if (lower.is && upper.is && step.is && step.number > 0)
        turns = upper.number > lower.number ? (upper.number - lower.number - 1) / step.number + 1 : 0;
      else
        unsure(node.op, "how often the loop runs hangs on data: it is counted once");
      repeat(node, turns, times, [&](int64_t turn) {
        values[slots[3]] = {lower.number + turn * step.number, lower.is && step.is};
        if (turn)
          for (size_t i = 4; i < slots.size(); i += 4)
            values[slots[i + 1]] = values[slots[i + 2]];
      });
      for (size_t i = 4; i < slots.size(); i += 4)
        values[slots[i + 3]] = turns ? values[slots[i + 2]] : values[slots[i]];
      break;
    }
    case Node::Contract: {
      Known turns = values[node.slots[0]];
      if (!turns.is)
        unsure(node.op, "how many steps there are hangs on data: one is counted");
      repeat(node, turns.is ? turns.number : 1, times, [&](int64_t turn) { values[node.slots[1]] = {turn, true}; });
      break;
    }
    case Node::If: {
      Known condition = values[node.slots[0]];
      if (!condition.is)
        unsure(node.op, isa<scf::IfOp>(node.op) ? "which side is taken hangs on data: the first is counted" : maskOfData);
      execute(!condition.is || condition.number ? node.body : node.other, times);
      break;
    }
    case Node::Parallel: {
      double points = 1;
      for (int slot : node.slots) {
        if (!values[slot].is)
          unsure(node.op, "how many points there are hangs on data: one is counted");
        else
          points *= double(std::max<int64_t>(values[slot].number, 0));
      }
      execute(node.body, times * points);
      break;
    }
    case Node::Once:
      if (isa<scf::WhileOp>(node.op))
        unsure(node.op, "how often the loop runs hangs on data: it is counted once");
      execute(node.body, times);
      break;
    }
  }

  /// The turns of a loop; of those that nothing hangs on, the first.
  void repeat(Node &node, int64_t turns, double times, llvm::function_ref<void(int64_t turn)> begin) {
    bool alike = !(reader.decides >> node.loop & 1);
    for (int64_t turn = 0; turn < turns; ++turn) {
      begin(turn);
      bool last = alike || steps > 2 * mostSteps;
      if (last && !alike)
        unsure(node.op, "not all turns of the loop were counted");
      execute(node.body, last ? times * double(turns - turn) : times);
      if (last)
        break;
    }
  }

  void clear(std::vector<Node> &nodes) {
    for (Node &node : nodes) {
      node.lanes = node.existing = 0;
      clear(node.body);
      clear(node.other);
    }
    work.operations = work.products = work.paddedProducts = 0;
    for (Traffic &traffic : work.arguments)
      traffic.loaded = traffic.stored = traffic.updated = 0;
  }

  // -- what is said of it
  /// Tiles of one kind that lie outside of their tensors for a good part; of those that share a bound, one.
  void report(ArrayRef<Node> nodes, Node::Kind kind) {
    constexpr double share = 0.25, few = 4096;
    for (const Node &node : nodes) {
      bool pays = !onCpu || kind == Node::Product || takesAllLanes(node.op);
      if (node.kind == kind && pays && node.lanes >= few && node.existing < (1 - share) * node.lanes && isNews(node)) {
        int percent = int(100 - 100 * node.existing / node.lanes);
        std::string what = node.kind == Node::Product ? " % of what the product's tiles multiply is padding"
                                                      : " % of the elements of this tile lie outside of the tensor";
        work.findings.push_back({"ragged", std::to_string(percent) + what, fittingTile(node), sourceChain(node.op->getLoc())});
      }
      report(node.body, kind);
      report(node.other, kind);
    }
  }

  /// What to change, where a power of two below the tile's size holds all that ever exists of a dimension.
  static std::string fittingTile(const Node &node) {
    for (const Extent &extent : node.extents)
      if (int64_t enough = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(extent.most, 1)))); enough < extent.size)
        return "take a tile of " + std::to_string(enough) + " where it has " + std::to_string(extent.size) + ": at most " +
               std::to_string(extent.most) + " of them exist";
    return "take tile sizes that divide the sizes better";
  }

  /// Elements that lie apart because of how their places are computed, which code may find out as it runs.
  void reportApart(ArrayRef<Node> nodes) {
    constexpr double few = 4096;
    for (const Node &node : nodes) {
      auto place = node.kind == Node::Access ? node.op->getOperand(0).getDefiningOp<tile::AccessOp>() : tile::AccessOp();
      if (place && node.lanes >= few && liesApart(place, scalars)) {
        explain::Findings found;
        explain::placesApart(node.op, onCpu);
        llvm::append_range(work.findings, found.take());
      }
      if (std::optional<ShortRows> rows = place && onCpu && node.lanes >= few ? shortRows(place, scalars) : std::nullopt) {
        explain::Findings found;
        explain::rowsApart(node.op, rows->elements, rows->bytes, rows->apart);
        llvm::append_range(work.findings, found.take());
      }
      reportApart(node.body);
      reportApart(node.other);
    }
  }

  void reportFunctions(ArrayRef<Node> nodes) {
    for (const Node &node : nodes) {
      if (std::optional<FunctionCost> cost = node.kind == Node::Tally ? functionCost(node.op) : std::nullopt)
        report(node, *cost);
      reportFunctions(node.body);
      reportFunctions(node.other);
    }
  }

  /// Functions of one kind at one place, as unrolled loops have them, are one.
  void report(const Node &node, const FunctionCost &cost) {
    Finding finding{"function", "", "", sourceChain(node.op->getLoc())};
    std::string products = std::to_string(int64_t(cost.products)) + " fused products";
    finding.message = cost.calls ? std::string(cost.name) + " is a call for each element, as long as " + products
                                 : std::string("each element of ") + cost.name + " takes as long as " + products;
    std::string rarer = "compute it once for what is used again, or for fewer elements";
    finding.hint = cost.calls && getElementTypeOrSelf(node.op->getResult(0)).isF64()
                       ? "convert to float32 before it, where that is exact enough: vectors have it of that type"
                   : *cost.instead ? cost.instead + ("; else " + rarer)
                                   : rarer;
    for (CostlyFunction &known : work.functions)
      if (known.finding.message == finding.message && at(known.finding) == at(finding)) {
        known.products += cost.products * node.lanes;
        return;
      }
    work.functions.push_back({std::move(finding), cost.products * node.lanes});
  }

  static std::tuple<std::string, int, int> at(const Finding &finding) {
    return finding.chain.empty() ? std::tuple(std::string(), 0, 0)
                                 : std::tuple(finding.chain[0].file, finding.chain[0].line, finding.chain[0].col);
  }

  bool isNews(const Node &node) {
    bool known = false;
    for (const Extent &extent : node.extents)
      known |= extent.hi >= 0 && !reported.insert({extent.size, extent.hi}).second;
    return !known;
  }

  void unsure(Operation *op, std::string why) {
    if (said.insert({op, llvm::hash_value(why)}).second)
      work.unsure.push_back({Diagnostic::Kind::Error, std::move(why), "", sourceChain(op->getLoc())});
  }

  tile::KernelOp kernel;
  Work work;
  NodeReader reader;
  Scalars &scalars;
  bool onCpu;
  uint64_t steps = 0;
  std::set<std::pair<int64_t, int>> reported; // bounds of tiles
  std::set<std::pair<Operation *, size_t>> said;
};

} // namespace

Work workOf(tile::KernelOp kernel, std::array<uint32_t, 3> grid, ArrayRef<uint64_t> args, bool onCpu) {
  return Counter(kernel, grid, args, onCpu).run();
}

} // namespace tilery::count
