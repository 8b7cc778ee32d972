// Bundles of programs compiled ahead of time, with the images in them. What a bundle names is loaded when it first runs: not here.
#include "runtime/hash.h"
#include "tests/fuzz/readers/images.h"
#include "tests/fuzz/readers/reader.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"

using namespace tilery;

std::vector<std::string> readers::seeds() {
  using Kind = BundleCondition::Kind;
  BundleEntry entry{"scale", {{"x", DType::F32, 2, false, DType::F32}, {"n", DType::I32, -1, false, DType::I64}}, false, {}};
  entry.parameters.push_back({"k", DType::I64, -1, true, DType::I64});
  std::vector<BundleCondition> conditions{
      {Kind::Cpu, 0, 0, 0},       {Kind::StrideIs, 0, 1, 1},  {Kind::AddressDivisible, 0, 0, 16},
      {Kind::NumberIs, 2, 0, 64}, {Kind::ExtentIs, 0, 0, 32}, {Kind::Disjoint, 0, 0, 0}};
  entry.variants = {{conditions, serialize({"object", hostKernels(), hostProgram().serialize()}), ""},
                    {{{Kind::Gpu, 0, 0, 90}}, serialize({".version 8.0", {gpuKernel()}, ""}), "second"}};
  return {serialize({entry}), serialize({entry, entry})};
}

void readers::read(std::string_view given) {
  std::string bytes(given);
  if (bytes.size() >= 16) { // the right checksum, which random bytes never have
    uint64_t sum = checksum(given.substr(16));
    bytes.replace(8, sizeof sum, reinterpret_cast<const char *>(&sum), sizeof sum);
  }
  std::vector<BundleEntry> entries = parseBundle(bytes);
  for (const BundleEntry &entry : entries)
    for (const BundleVariant &variant : entry.variants)
      for (const std::string &image : {variant.image, variant.withoutBoxes})
        try {
          deserialize(image);
        } catch (const Error &) {
        }
  // A call looks for its variant by conditions alone: none of these may reach behind a tensor.
  for (BundleEntry &entry : entries)
    for (BundleVariant &variant : entry.variants)
      variant.image.clear(), variant.withoutBoxes.clear();
  Bundle bundle(serialize(entries));
  const int64_t grid[3] = {1, 1, 1};
  for (size_t number = 0; number < entries.size(); ++number) {
    std::vector<Tensor> tensors(entries[number].parameters.size());
    std::vector<std::vector<int64_t>> sizes(tensors.size());
    std::vector<HostArgument> arguments(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const BundleParameter &parameter = entries[number].parameters[i]; parameter.rank >= 0) {
        sizes[i].assign(size_t(parameter.rank), 32);
        tensors[i] = {nullptr, parameter.dtype, parameter.rank, sizes[i].data(), sizes[i].data(), {}};
        arguments[i].tensor = &tensors[i];
      }
    try {
      bundle.call(number, arguments, entries[number].takesGrid ? grid : nullptr, {});
    } catch (const Error &) {
    }
  }
}
