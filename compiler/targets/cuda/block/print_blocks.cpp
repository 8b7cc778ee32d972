#include "compiler/targets/cuda/block/print_blocks.h"
#include "compiler/block/passes/join_programs.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/price/schedule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilery::cuda {

namespace {
class PlanText {
public:
  explicit PlanText(std::string &text) : stream(text) {}

  llvm::raw_string_ostream stream;

  void line(const char *what, const block::Box &box) {
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
  }
  void factor(const char *what, const block::Box &box, const std::optional<block::FetchedFactor> &fetched) {
    if (!fetched)
      return line(what, box);
    unsigned own = fetched->turned ? 1 - fetched->line : fetched->line;
    std::string how = block::copiedLine(fetched->tile) == own
                          ? "copied by threads, 16 bytes"
                          : "fetched by threads, " + std::to_string(block::shapeOf(fetched->tile, own).width);
    stream << "  " << what << ": " << how << " at a time along dimension " << own << ", for " << fetched->noBox << "\n";
  }
  void stored(const std::optional<block::MappedTile> &tile, const block::Schedule &schedule, const std::string &why) {
    if (tile && schedule.stageOutput)
      line("c", tile->box);
    else
      stream << "  c: stored from registers, for " << (tile ? "the schedule says so" : why) << "\n";
  }
  void close() {
    if (!conditions.empty())
      stream << "  for launches with " << llvm::join(conditions, ", ") << "\n";
  }

private:
  SmallVector<std::string> conditions;
};

void print(PlanText &text, const block::ProductKernel &found, const block::Schedule &schedule) {
  const block::BoxProduct &product = found.product;
  text.stream << "  one product (ProductKernel): a times b, boxes of the first step; c: what is stored\n";
  bool swapped = product.swapped;
  for (bool second : {false, true}) {
    bool own = second != swapped; // the factor of the tensor cores' product
    if (own || !product.unpacked)
      text.factor(second ? "b" : "a", own ? product.b : product.a, own ? product.fetchedB : product.fetchedA);
  }
  if (product.swapped)
    text.stream << "  swapped: B^T A^T\n";
  if (product.unpacked)
    for (const block::UnpackedSource &source : product.unpacked->sources)
      text.line(swapped ? "b, unpacked in registers, of" : "a, unpacked in registers, of", source.tile.box);
  if (product.readA)
    text.stream << "  " << (swapped ? "b" : "a") << ": bytes across k, which threads read into registers and turn\n";
  for (Operation *op : found.outputs()) {
    std::string why = "it has not the product's shape";
    std::optional<block::StoredTile> stored = block::storedTile(op);
    text.stored(stored ? block::mapStored(*stored, product, why) : std::nullopt, schedule, why);
  }
}

void print(PlanText &text, const block::LoopKernel &found, const block::Schedule &schedule) {
  text.stream << "  products in loops (LoopKernel): of each a times b, boxes of any step; c: what is stored\n";
  for (const block::BoxProduct &dot : found.dots) {
    if (dot.loadedA)
      text.factor("a", dot.a, dot.fetchedA);
    if (dot.loadedB)
      text.factor("b", dot.b, dot.fetchedB);
  }
  for (tile::StoreOp store : found.stores) {
    std::string why = "it has not the product's shape";
    std::optional<block::StoredTile> stored = block::storedTile(store);
    auto sums = stored ? block::storedSums(*stored, found.results()) : std::nullopt;
    text.stored(sums ? block::mapStored(*stored, sums->first, sums->second, why) : std::nullopt, schedule, why);
  }
}
} // namespace

std::string printPlan(tile::KernelOp opened, tile::KernelOp lowered) {
  std::string result, why;
  PlanText text(result);
  std::optional<block::Schedule> schedule = block::Schedule::of(lowered);
  text.stream << opened.getSymName() << ": blocks" << (schedule ? " " + schedule->print() : "");
  if (auto joined = lowered->getAttrOfType<DenseI64ArrayAttr>(block::joinedPrograms))
    text.stream << ", " << joined[1] << " programs of axis " << joined[0] << " as one";
  text.stream << "\n";
  if (std::optional<block::FoundKernel> found = schedule ? block::findAnyKernel(opened, why) : std::nullopt)
    std::visit([&](auto &each) { print(text, each, *schedule); }, *found);
  text.close();
  return result;
}

} // namespace tilery::cuda
