// Vectors of small elements that lie across a stored tile: a thread reads words, each of which has an element of several of its vectors.
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::Lanes;
using lower::Point;

namespace {
constexpr unsigned wordBytes = 4;

/// Vector i of words whose parts are elements i, a word an element: by permutations of two words' bytes.
SmallVector<SmallVector<llvm::Value *, 4>, 4> turnWords(lower::Emitter &e, ThreadMachine &machine, ArrayRef<llvm::Value *> words,
                                                        unsigned count) {
  auto bytes = [&](llvm::Value *low, llvm::Value *high, uint32_t which) {
    return machine.permuteBytes(e, low, high, e.b.getInt32(which));
  };
  constexpr uint32_t lowHalves = 0x5410, highHalves = 0x7632, lowBytes = 0x5140, highBytes = 0x7362;
  SmallVector<SmallVector<llvm::Value *, 4>, 4> vectors(count);
  for (; !words.empty(); words = words.drop_front(count)) {
    if (count == 2) {
      vectors[0].push_back(bytes(words[0], words[1], lowHalves));
      vectors[1].push_back(bytes(words[0], words[1], highHalves));
      continue;
    }
    for (unsigned half : {0, 1}) {
      uint32_t own = half ? highBytes : lowBytes;
      llvm::Value *first = bytes(words[0], words[1], own), *second = bytes(words[2], words[3], own);
      vectors[2 * half].push_back(bytes(first, second, lowHalves));
      vectors[2 * half + 1].push_back(bytes(first, second, highHalves));
    }
  }
  return vectors;
}
} // namespace

// The vectors side by side are read when the first of them is asked for.
Lanes SimtEmitter::readAcross(int buffer, ArrayRef<int64_t> shape, Indices point, unsigned lanes) {
  auto &b = e.b;
  const lower::ScratchBuffer &stored = plan.buffers[buffer];
  if (point.size() != 2 || perThread || stored.element.isInteger(1))
    return nullptr;
  auto found = besides.find(point[1].base);
  unsigned bytes = lower::elementBytes(stored.element);
  const lower::Exchange &exchange = stored.exchange;
  bool inUnits =
      exchange.units == 1 || (exchange.dim == 0 && exchange.unit % lanes == 0 && exchange.unit * bytes % wordBytes == 0);
  if (found == besides.end() || !point[1].uniform() || point[0].step != 1 || point[0].lanes || !inUnits)
    return nullptr;
  Beside beside = found->second;
  if (beside.count * bytes != wordBytes || lanes % beside.count || shape[1] % beside.count || point[0].multiple % lanes)
    return nullptr;
  SmallVector<Lanes, 4> &vectors = across[{buffer, {point[0].base, beside.first}}];
  if (vectors.empty()) {
    SmallVector<llvm::Value *> words;
    Point first(point);
    first[0].step = 0;
    first[1].base = beside.first;
    {
      lower::Evaluator::Vector single(evaluator, 1);
      lower::Address where = evaluator.addresses.ofStored(buffer, shape, first);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        llvm::Value *place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), where.pointer, lane * uint64_t(shape[1]) * bytes);
        auto *word = b.CreateAlignedLoad(b.getInt32Ty(), place, llvm::Align(wordBytes));
        where.annotate(word);
        words.push_back(word);
      }
    }
    for (ArrayRef<llvm::Value *> parts : turnWords(e, machine, words, beside.count)) {
      llvm::Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), parts.size()));
      for (auto [i, part] : llvm::enumerate(parts))
        vector = b.CreateInsertElement(vector, part, uint64_t(i));
      vectors.push_back(e.fromMemory(b.CreateBitCast(vector, e.vectorOf(e.memoryType(stored.element), lanes)), stored.element));
    }
  }
  return vectors[beside.number];
}

} // namespace tilery::cuda
