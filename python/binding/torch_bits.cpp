// torch negates lazily, and resizes storages under tensors: only its own objects say so. Asking for that by `is_neg()` or
// `untyped_storage()` costs as much as reading a whole argument, so the words that hold it are found once in tensors that are made for it,
// and read where they lie; as long as they are not found, torch is asked.
#include "torch_bits.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <malloc.h>
#include <nanobind/nanobind.h>
#include <optional>
#include <vector>

namespace nb = nanobind;

namespace tilery::python {
namespace {

/// Bytes from the begin of an object to a word of it.
struct Words {
  size_t own;     ///< in the Python object: the pointer to torch's own
  size_t negated; ///< there: the word with the bit
  uint64_t bit;   ///< 0: nothing was found
  size_t storage; ///< there: the pointer to the storage
  size_t begin;   ///< in the storage: where its memory begins
  size_t bytes;   ///< there: how long it is
};

constexpr size_t word = sizeof(uint64_t);

uint64_t wordAt(uint64_t object, size_t bytes) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const char *>(object) + bytes, sizeof word);
  return word;
}

uint64_t number(nb::handle object, const char *method) { return nb::cast<uint64_t>(object.attr(method)()); }

/// A tensor, another view of it, and its negated view: torch's own of each, and their one storage.
struct Sample {
  nb::object tensors[3];
  uint64_t own[3], storage, begin, bytes;
};

Sample sampleOf(int size) {
  // Of memory that Python owns: in storages that torch allocates two words are its address.
  nb::object torch = nb::module_::import_("torch"), memory = nb::steal(PyByteArray_FromStringAndSize(nullptr, size * 4));
  nb::object plain = torch.attr("frombuffer")(memory, nb::arg("dtype") = torch.attr("float32"));
  Sample sample{{plain, plain.attr("view")(-1), torch.attr("_neg_view")(plain)}, {}, 0, 0, 0};
  for (int i = 0; i < 3; ++i)
    sample.own[i] = nb::cast<uint64_t>(sample.tensors[i].attr("_cdata"));
  nb::object storage = plain.attr("untyped_storage")();
  sample.storage = nb::cast<uint64_t>(storage.attr("_cdata"));
  sample.begin = number(storage, "data_ptr");
  sample.bytes = number(storage, "nbytes");
  return sample;
}

/// The one word that holds in each object what is asked for. \p objects are pairs: the object, the word.
std::optional<size_t> placeOf(const std::vector<std::pair<uint64_t, uint64_t>> &objects, size_t begin, size_t end) {
  std::optional<size_t> found;
  for (size_t at = begin; at + word <= end; at += word) {
    bool all = true;
    for (auto [object, value] : objects)
      all &= wordAt(object, at) == value;
    if (all && found)
      return {};
    if (all)
      found = at;
  }
  return found;
}

size_t usableBytes(const std::vector<std::pair<uint64_t, uint64_t>> &objects) {
  size_t least = SIZE_MAX;
  for (auto [object, value] : objects)
    least = std::min(least, malloc_usable_size(reinterpret_cast<void *>(object)));
  return least;
}

/// The one bit that negated views have, and neither tensors nor other views of them.
bool findBit(const std::vector<Sample> &samples, size_t end, Words &words) {
  for (size_t at = word; at + word <= end; at += word) {
    uint64_t mask = ~uint64_t(0);
    for (const Sample &sample : samples)
      mask &= wordAt(sample.own[2], at) & ~wordAt(sample.own[0], at) & ~wordAt(sample.own[1], at);
    if (!mask)
      continue;
    if (words.bit || !std::has_single_bit(mask))
      return false;
    words.negated = at, words.bit = mask;
  }
  return words.bit;
}

/// \p all: samples of other tries, too, so that each has memory of its own: what lies behind an object is anything.
std::optional<Words> findWords(std::vector<Sample> &all) {
  nb::object guard = nb::module_::import_("torch").attr("_C").attr("_DisableTorchDispatch")(); // samples are no fake tensors
  std::vector<Sample> samples;
  for (int size : {1, 3, 16, 50, 7, 22, 100, 5})
    samples.push_back(all.emplace_back(sampleOf(size)));
  std::vector<std::pair<uint64_t, uint64_t>> own, storage, begin, bytes;
  for (const Sample &sample : samples) {
    if (!nb::cast<bool>(sample.tensors[2].attr("is_neg")()))
      return {};
    for (int i = 0; i < 3; ++i) {
      own.push_back({reinterpret_cast<uint64_t>(sample.tensors[i].ptr()), sample.own[i]});
      storage.push_back({sample.own[i], sample.storage});
    }
    begin.push_back({sample.storage, sample.begin});
    bytes.push_back({sample.storage, sample.bytes});
  }
  auto inObject = placeOf(own, 2 * word, nb::cast<size_t>(samples[0].tensors[0].type().attr("__basicsize__")));
  size_t tensorEnd = usableBytes(storage), storageEnd = usableBytes(begin);
  auto toStorage = placeOf(storage, word, tensorEnd);
  auto toBegin = placeOf(begin, word, storageEnd), toBytes = placeOf(bytes, word, storageEnd);
  if (!inObject || !toStorage || !toBegin || !toBytes)
    return {};
  Words words{*inObject, 0, 0, *toStorage, *toBegin, *toBytes};
  return findBit(samples, tensorEnd, words) ? std::optional(words) : std::nullopt;
}

Words known; // its bit is 0 as long as nothing is found

/// What torch answers, which takes a while.
TorchView askedViewOf(PyObject *tensor) {
  PyObject *answer = PyObject_CallMethod(tensor, "is_neg", nullptr);
  bool negated = answer == Py_True;
  Py_XDECREF(answer);
  nb::object storage = nb::steal(PyObject_CallMethod(tensor, "untyped_storage", nullptr));
  PyErr_Clear();
  try {
    return {number(storage, "data_ptr"), int64_t(number(storage, "nbytes")), negated};
  } catch (nb::python_error &) { // that of a fake tensor has no address
    return {0, 0, negated};
  }
}

/// viewOf as long as nothing is known.
[[gnu::noinline]] TorchView firstViewOf(PyObject *tensor) {
  static int attempts = 0;
  if (attempts++ < 16) { // within a transformation of torch.func tensors are others
    std::vector<Sample> samples;
    try {
      for (int tries = 0; tries < 4 && !known.bit; ++tries)
        known = findWords(samples).value_or(Words{});
    } catch (nb::python_error &) {
    } catch (nb::cast_error &) {
    }
  }
  return known.bit ? viewOf(tensor) : askedViewOf(tensor);
}

} // namespace

bool isTorchTensor(PyTypeObject *type) {
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *torch = modules ? PyDict_GetItemString(modules, "torch") : nullptr;
  nb::object tensor = nb::steal(torch ? PyObject_GetAttrString(torch, "Tensor") : nullptr);
  PyErr_Clear();
  return tensor.is_valid() && PyType_Check(tensor.ptr()) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(tensor.ptr()));
}

TorchView viewOf(PyObject *tensor) {
  if (!known.bit)
    return firstViewOf(tensor);
  uint64_t own = wordAt(reinterpret_cast<uint64_t>(tensor), known.own), storage = own ? wordAt(own, known.storage) : 0;
  bool negated = own && wordAt(own, known.negated) & known.bit;
  return storage ? TorchView{wordAt(storage, known.begin), int64_t(wordAt(storage, known.bytes)), negated}
                 : TorchView{0, 0, negated};
}

} // namespace tilery::python
