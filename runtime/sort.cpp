// Keys are unsigned integers in the wanted order. Many elements: a radix sort by bytes of the key, which is computed from the element
// wherever it is needed, so that only elements move. Few that are kept: the best ones so far, and blocks of elements that have none better
// are passed by; some that are kept: with those that may be among them. Few at all: insertion.
#include "runtime/sort.h"
#include "runtime/processor.h"
#include "tilery/abi.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace tilery {
namespace {
/// Which order the bits of an element stand for.
enum class Order { Unsigned, Signed, Float };

/// Element bits -> key. `lastNumber`: the greatest bits without a sign that are no NaN.
template <typename U, Order order> struct Keys {
  U lastNumber;
  U flip; // all ones: decreasing

  static constexpr U sign = U(U(1) << (8 * sizeof(U) - 1));
  U operator()(U bits) const {
    if constexpr (order == Order::Unsigned)
      return U(bits ^ flip);
    if constexpr (order == Order::Signed)
      return U(bits ^ sign ^ flip);
    U key = bits & sign ? U(~bits) : U(bits | sign);
    return U(bits & U(~sign)) > lastNumber ? U(~U(0)) : U(key ^ flip);
  }
};

template <typename U, typename K> void insertionSort(U *values, int64_t count, K key) {
  for (int64_t i = 1; i < count; ++i) {
    U fresh = values[i], own = key(fresh);
    int64_t hole = i;
    for (; hole > 0 && own < key(values[hole - 1]); --hole)
      values[hole] = values[hole - 1];
    values[hole] = fresh;
  }
}

template <typename U, typename K> void radixSort(U *values, U *scratch, int64_t count, K key) {
  constexpr int digits = sizeof(U);
  uint32_t starts[digits][256] = {};
  for (int64_t i = 0; i < count; ++i) {
    U own = key(values[i]);
    for (int d = 0; d < digits; ++d)
      ++starts[d][own >> (8 * d) & 255];
  }
  U *from = values, *to = scratch;
  for (int d = 0; d < digits; ++d) {
    uint32_t *start = starts[d], sum = 0;
    if (start[key(values[0]) >> (8 * d) & 255] == uint64_t(count)) // all have the same digit
      continue;
    for (int bin = 0; bin < 256; ++bin)
      sum += std::exchange(start[bin], sum);
    for (int64_t i = 0; i < count; ++i) {
      U value = from[i];
      to[start[key(value) >> (8 * d) & 255]++] = value;
    }
    std::swap(from, to);
  }
  if (from != values)
    std::memcpy(values, from, count * sizeof(U));
}

constexpr int64_t block = 64;

/// The least key of a block.
template <typename U, typename K> TILERY_LIKE_GENERATED_CODE U leastKey(const U *values, K key) {
  U least = U(~U(0));
  for (int64_t i = 0; i < block; ++i)
    least = std::min(least, key(values[i]));
  return least;
}

/// The first `keep` in order, in `best`, which may not overlap.
template <typename U, typename K> void select(const U *values, U *best, int64_t count, int64_t keep, K key) {
  std::copy(values, values + keep, best);
  insertionSort(best, keep, key);
  U worst = key(best[keep - 1]);
  auto offer = [&](U value) {
    U own = key(value);
    if (own >= worst)
      return;
    int64_t hole = keep - 1;
    for (; hole > 0 && own < key(best[hole - 1]); --hole)
      best[hole] = best[hole - 1];
    best[hole] = value;
    worst = key(best[keep - 1]);
  };
  int64_t i = keep;
  for (; i + block <= count; i += block)
    if (leastKey(values + i, key) < worst)
      for (int64_t j = i; j < i + block; ++j)
        offer(values[j]);
  for (; i < count; ++i)
    offer(values[i]);
}

/// The same for more of them: what is better than the last one kept is put aside, and sorted with those when there is no room. `best` holds
/// `room` elements, more than `keep`; the first ones of `values` are lost.
template <typename U, typename K> void selectMany(U *values, U *best, int64_t count, int64_t keep, int64_t room, K key) {
  int64_t size = room;
  U worst = 0;
  auto settle = [&] {
    radixSort(best, values, size, key);
    size = std::min(size, keep);
    worst = key(best[size - 1]);
  };
  std::copy(values, values + room, best);
  settle();
  for (int64_t i = room, next; i < count; i = next) {
    next = std::min(i + block, count);
    if (next - i == block && leastKey(values + i, key) >= worst)
      continue;
    for (int64_t j = i; j < next; ++j)
      if (U value = values[j]; key(value) < worst) {
        best[size++] = value;
        if (size == room)
          settle();
      }
  }
  settle();
}

template <typename U, Order order>
void sortAs(void *data, void *spare, int64_t count, int64_t keep, U lastNumber, bool descending) {
  U *values = static_cast<U *>(data), *scratch = static_cast<U *>(spare);
  Keys<U, order> key{lastNumber, descending ? U(~U(0)) : U(0)};
  if (count <= 32)
    return insertionSort(values, count, key);
  if (keep <= 32 && keep * 4 <= count) {
    select(values, scratch, count, keep, key);
    std::memcpy(values, scratch, keep * sizeof(U));
    return;
  }
  if (int64_t room = std::max<int64_t>(4 * keep, 256); room * 4 <= count) {
    selectMany(values, scratch, count, keep, room, key);
    std::memcpy(values, scratch, keep * sizeof(U));
    return;
  }
  radixSort(values, scratch, count, key);
}
} // namespace

void sortValues(void *values, void *scratch, int64_t count, int64_t keep, DType dtype, bool descending) {
  auto as = [&]<typename U>(U, Order order, U lastNumber = 0) {
    auto *sort = order == Order::Unsigned ? sortAs<U, Order::Unsigned>
                 : order == Order::Signed ? sortAs<U, Order::Signed>
                                          : sortAs<U, Order::Float>;
    sort(values, scratch, count, keep, lastNumber, descending);
  };
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return as(uint8_t(), Order::Unsigned);
  case DType::U16:
    return as(uint16_t(), Order::Unsigned);
  case DType::U32:
    return as(uint32_t(), Order::Unsigned);
  case DType::U64:
    return as(uint64_t(), Order::Unsigned);
  case DType::I8:
    return as(uint8_t(), Order::Signed);
  case DType::I16:
    return as(uint16_t(), Order::Signed);
  case DType::I32:
    return as(uint32_t(), Order::Signed);
  case DType::I64:
    return as(uint64_t(), Order::Signed);
  case DType::F8E4M3:
    return as(uint8_t(), Order::Float, uint8_t(0x7e));
  case DType::F8E5M2:
    return as(uint8_t(), Order::Float, uint8_t(0x7c));
  case DType::F16:
    return as(uint16_t(), Order::Float, uint16_t(0x7c00));
  case DType::BF16:
    return as(uint16_t(), Order::Float, uint16_t(0x7f80));
  case DType::F32:
    return as(uint32_t(), Order::Float, uint32_t(0x7f800000));
  case DType::F64:
    return as(uint64_t(), Order::Float, uint64_t(0x7ff0000000000000));
  }
}
} // namespace tilery

void tilery_rt_sort(void *values, void *scratch, int64_t count, int64_t keep, uint32_t dtype, uint32_t descending) {
  tilery::sortValues(values, scratch, count, keep, tilery::DType(dtype), descending);
}
