// torch negates lazily: a bit of the tensor says so. Asking for it by `is_neg()` costs as much as reading a whole argument, so the bit is
// found once in tensors that are made for it, and read where it lies; as long as it is not found, torch is asked.
#include "torch_bits.h"
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <malloc.h>
#include <nanobind/nanobind.h>
#include <optional>
#include <vector>

namespace nb = nanobind;

namespace tilery::python {
namespace {

struct Bit {
  size_t inObject;   ///< bytes from the Python object to the pointer to torch's own
  size_t inTensor;   ///< bytes from there to the word
  uint64_t mask = 0; ///< one bit
};

uint64_t wordAt(const void *base, size_t bytes) {
  uint64_t word;
  std::memcpy(&word, static_cast<const char *>(base) + bytes, sizeof word);
  return word;
}

constexpr size_t word = sizeof(uint64_t);

/// A tensor, another view of it, and its negated view: torch's own of each.
struct Sample {
  nb::object tensors[3];
  void *own[3];
};

Sample sampleOf(int size) {
  nb::object torch = nb::module_::import_("torch"), plain = torch.attr("empty")(size);
  Sample sample{{plain, plain.attr("view")(-1), torch.attr("_neg_view")(plain)}, {}};
  for (int i = 0; i < 3; ++i)
    sample.own[i] = reinterpret_cast<void *>(nb::cast<uint64_t>(sample.tensors[i].attr("_cdata")));
  return sample;
}

/// Bytes from a tensor's Python object to the pointer to torch's own; 0: it is not there.
size_t pointerIn(const Sample &sample) {
  size_t end = size_t(Py_TYPE(sample.tensors[0].ptr())->tp_basicsize);
  for (size_t at = 2 * word; at + word <= end; at += word) {
    bool all = true;
    for (int i = 0; i < 3; ++i)
      all &= wordAt(sample.tensors[i].ptr(), at) == reinterpret_cast<uint64_t>(sample.own[i]);
    if (all)
      return at;
  }
  return 0;
}

/// The one bit that negated views have, and neither tensors nor other views of them.
std::optional<Bit> findBit() {
  std::vector<Sample> samples;
  for (int size : {1, 3, 16})
    samples.push_back(sampleOf(size));
  std::optional<Bit> found;
  size_t inObject = pointerIn(samples[0]), end = malloc_usable_size(samples[0].own[2]);
  for (const Sample &sample : samples) {
    if (!inObject || pointerIn(sample) != inObject || !nb::cast<bool>(sample.tensors[2].attr("is_neg")()))
      return {};
    for (void *own : sample.own)
      end = std::min(end, malloc_usable_size(own));
  }
  for (size_t at = word; at + word <= end; at += word) {
    uint64_t mask = ~uint64_t(0);
    for (const Sample &sample : samples)
      mask &= wordAt(sample.own[2], at) & ~wordAt(sample.own[0], at) & ~wordAt(sample.own[1], at);
    if (!mask)
      continue;
    if (found || !std::has_single_bit(mask))
      return {};
    found = Bit{inObject, at, mask};
  }
  return found;
}

} // namespace

bool isNegated(PyObject *tensor) {
  static Bit bit{};
  static int attempts = 0;
  if (!bit.mask && attempts < 16) { // within a transformation of torch.func tensors are others
    ++attempts;
    try {
      bit = findBit().value_or(Bit{});
    } catch (nb::python_error &) {
    } catch (nb::cast_error &) {
    }
  }
  if (bit.mask) {
    auto own = reinterpret_cast<const void *>(wordAt(tensor, bit.inObject));
    return own && wordAt(own, bit.inTensor) & bit.mask;
  }
  PyObject *answer = PyObject_CallMethod(tensor, "is_neg", nullptr);
  PyErr_Clear();
  bool negated = answer == Py_True;
  Py_XDECREF(answer);
  return negated;
}

} // namespace tilery::python
