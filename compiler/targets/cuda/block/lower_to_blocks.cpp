#include "compiler/targets/cuda/block/lower_to_blocks.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/block/recognise/explain.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/passes/passes.h"
#include "compiler/lower/verify_code.h"
#include "compiler/progress.h"
#include "compiler/targets/cuda/block/block_lines.h"
#include "compiler/targets/cuda/block/emit_block.h"
#include "compiler/targets/cuda/block/print_blocks.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// Which threads have loaded what is stored, is known of one argument only.
bool loadsBesideStores(tile::KernelOp kernel) {
  SmallVector<Value> places = block::storedPlaces(kernel);
  auto isOfAnother = [&](tile::LoadOp load) {
    return llvm::any_of(places, [&](Value place) { return block::rootOf(place) != block::rootOf(load.getPlace()); });
  };
  auto meets = [&](tile::LoadOp load) {
    return !block::isFactor(load) && isOfAnother(load) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(meets).wasInterrupted();
}

/// The kernel is a product, of more steps than none, or loops with products.
bool multiplies(tile::KernelOp kernel, bool disjoint, std::string &why) {
  std::optional<block::FoundKernel> found = block::findAnyKernel(kernel, why);
  if (found && !disjoint && std::visit([](auto &each) { return each.loadsBehindStores; }, *found)) {
    why = "it loads after it has stored, from arguments that may overlap";
    return false;
  }
  if (found && !disjoint && loadsBesideStores(kernel)) {
    why = "it loads, beside its factors, from arguments that may overlap what it stores";
    return false;
  }
  auto *product = found ? std::get_if<block::ProductKernel>(&*found) : nullptr;
  return found && !(product && product->product.steps() && analysis::constantOf(product->product.steps()).value_or(1) <= 0);
}

/// Whether contractions have rows or columns for the tensor cores: others would become four times as large and more (docs/design.md).
bool fillTensorCores(tile::KernelOp kernel) {
  auto isSmall = [](tile::ContractOp contract) {
    bool fills = llvm::any_of(tile::shapeOf(contract.getType()), [](int64_t size) { return size % 64 == 0; });
    return fills ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !kernel.walk(isSmall).wasInterrupted();
}

/// What code cannot be made for, of what passes over loops may leave.
const char *withoutCode(tile::KernelOp lowered) {
  const char *why = nullptr;
  lowered.walk([&](Operation *op) {
    if (auto convert = dyn_cast<block::ConvertOp>(op); convert && !block::canBeComputedAnywhere(convert.getValue()))
      why = "a tile would have to go from threads to others";
    if (isa<block::MapOp>(op) && block::multipliesByWarps(op))
      why = "boxes are for Hopper's copy engine";
    if (isa<tile::ReduceOp, tile::ScanOp>(op) && !isCombined(op))
      why = "elements that it combines lie so that there is no code for it";
  });
  return why;
}
/// What the lowered kernel hands from threads to others may find no place beside its slots.
const char *withoutRoom(tile::KernelOp lowered, const block::Gpu &gpu) {
  return int64_t(sharedBytesOf(lowered)) > gpu.sharedBytes ? "what its threads hand on finds no shared memory" : nullptr;
}
/// Why roles must not be launched, if they must not.
std::string uncheckedBarriers(tile::KernelOp lowered) {
  std::string why;
  lowered.walk([&](block::RolesOp roles) {
    if (auto unchecked = roles->getAttrOfType<StringAttr>("block.unchecked"))
      why = "its barriers could not be checked: " + unchecked.str();
  });
  return why;
}
} // namespace

FailureOr<OwningOpRef<ModuleOp>> lowerToBlocks(tile::KernelOp kernel, std::string &why, bool disjoint, bool boxes,
                                               unsigned cluster, const block::Gpu &gpu, std::string *plan, bool inTurn) {
  auto run = [](tile::KernelOp on, void (*add)(OpPassManager &)) {
    PassManager manager(on.getContext(), tile::KernelOp::getOperationName());
    manager.enableVerifier(lower::verifies());
    manager.addInstrumentation(passSteps());
    add(manager);
    return manager.run(on);
  };
  why.clear();
  gpu.mark(kernel);
  if (!boxes)
    kernel->setAttr("block.no_boxes", UnitAttr::get(kernel.getContext()));
  bool isLowered = hasRoles(kernel);
  if (!isLowered && failed(run(kernel, block::addMasks))) // of the kernel itself: other code is made from it, too
    return failure();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->getBody()->push_back(kernel->clone());
  auto made = [&] { return *module->getOps<tile::KernelOp>().begin(); };
  OwningOpRef<tile::KernelOp> opened;
  auto tellPlan = [&] {
    if (plan)
      *plan += printPlan(opened ? *opened : made(), made());
  };
  if (isLowered) {
    tellPlan();
    return module;
  }
  if (failed(run(made(), block::addOpening)))
    return failure();
  auto refuse = [&](const std::string &reason) { block::explain(made(), "no blocks, for " + reason); };
  if (!multiplies(made(), disjoint, why)) {
    // What mixes a result's lanes, as sums of its rows do, and sums that go on are known behind loops of products.
    bool opens = !why.empty() && fillTensorCores(made()) && block::openContractions(made());
    if (opens && failed(run(made(), block::addOpening)))
      return failure();
    std::string asLoop;
    if (!opens || !multiplies(made(), disjoint, asLoop)) {
      if (!why.empty())
        refuse(why + (asLoop.empty() ? "" : "; as a loop, for " + asLoop));
      return OwningOpRef<ModuleOp>();
    }
    why.clear();
  }
  if (plan)
    opened = made().clone();
  if (cluster > 1)
    made()->setAttr("block.split_k", OpBuilder(kernel.getContext()).getI64IntegerAttr(cluster));
  if (inTurn)
    made()->setAttr("block.in_turn", UnitAttr::get(kernel.getContext()));
  if (failed(run(made(), block::addBlocks)))
    return failure();
  if (!hasRoles(made())) {
    auto left = made()->getAttrOfType<StringAttr>("block.general");
    why = left ? left.str() : "no schedule fits shared memory and registers";
  } else if (const char *missing = withoutCode(made())) { // though a schedule was found, and told
    why = missing;
    refuse(why);
  } else if (const char *full = withoutRoom(made(), gpu)) {
    why = full;
    refuse(why);
  } else if (why = uncheckedBarriers(made()); !why.empty() && lower::verifies()) {
    kernel.emitError(why); // a defect of ours
    return failure();
  }
  if (!why.empty())
    return OwningOpRef<ModuleOp>();
  tellPlan();
  return module;
}

} // namespace tilery::cuda
