#include "compiler/targets/cuda/print_blocks.h"
#include "compiler/block/find_kernel.h"
#include "compiler/block/schedule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilery::cuda {

std::string printPlan(tile::KernelOp kernel, tile::KernelOp lowered) {
  std::string text, why;
  llvm::raw_string_ostream stream(text);
  std::optional<block::Schedule> schedule = block::Schedule::of(lowered);
  stream << kernel.getSymName() << ": blocks" << (schedule ? " " + schedule->print() : "") << "\n";
  std::optional<block::ProductKernel> found = schedule ? block::findKernel(kernel, why) : std::nullopt;
  if (!found)
    return text;
  SmallVector<std::string> conditions;
  auto line = [&](const char *what, const block::Box &box) {
    stream << "  " << what << ": box of ";
    box.print(stream);
    stream << "\n";
    for (const block::BoxCondition &condition : box.conditions) {
      std::string each;
      llvm::raw_string_ostream eachStream(each);
      block::print(condition, eachStream);
      if (!llvm::is_contained(conditions, each))
        conditions.push_back(each);
    }
  };
  const block::BoxProduct &product = found->product;
  line("a", product.swapped ? product.b : product.a);
  line("b", product.swapped ? product.a : product.b);
  if (product.swapped)
    stream << "  swapped: B^T A^T\n";
  for (tile::StoreOp store : found->stores) {
    std::optional<block::MappedTile> tile = block::mapStored(store, product, why);
    if (tile && schedule->stageOutput)
      line("c", tile->box);
    else
      stream << "  c: stored from registers, for " << (tile ? "the schedule says so" : why) << "\n";
  }
  if (!conditions.empty())
    stream << "  for launches with " << llvm::join(conditions, ", ") << "\n";
  return text;
}

std::string printRefusal(tile::KernelOp kernel) {
  std::string why;
  block::findKernel(kernel, why);
  return why.empty() ? "" : kernel.getSymName().str() + ": no blocks, for " + why + "\n";
}

} // namespace tilery::cuda
