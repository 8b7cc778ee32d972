// The arguments of calls from C and C++, where nobody else has looked at them: null pointers are refused by name.
#include "runtime/bundle_arguments.h"
#include "tilery/diagnostic.h"
#include <algorithm>

namespace tilery {
namespace {

std::string ofRank(int32_t rank) { return "a tensor of " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"); }

/// "4, 6".
std::string listed(std::span<const int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// The strides that elements in row-major order have; such numbers as no tensor has are as good as any.
std::vector<int64_t> denseStrides(const Tensor &tensor) {
  std::vector<int64_t> strides(size_t(tensor.rank), 1);
  for (int32_t dim = tensor.rank - 1; dim > 0; --dim)
    strides[dim - 1] = int64_t(uint64_t(strides[dim]) * uint64_t(tensor.extents[dim]));
  return strides;
}
} // namespace

std::string missingOf(const Tensor &tensor) {
  if (tensor.rank > 0 && !tensor.extents)
    return "its shape is null";
  const std::span<const int64_t> extents(tensor.extents, size_t(std::max(tensor.rank, 0)));
  if (auto negative = std::find_if(extents.begin(), extents.end(), [](int64_t e) { return e < 0; }); negative != extents.end())
    return "its shape is " + listed(extents);
  if (tensor.rank > 0 && !tensor.strides)
    return "its strides are null (rows that lie one behind the other have " + listed(denseStrides(tensor)) + ")";
  if (!tensor.data && std::find(extents.begin(), extents.end(), 0) == extents.end())
    return "its data is null";
  return {};
}

void checkArguments(const BundleEntry &entry, std::span<const HostArgument> arguments, const int64_t *grid) {
  const bool runs = !grid || std::min({grid[0], grid[1], grid[2]}) > 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const BundleParameter &parameter = entry.parameters[i];
    const Tensor *tensor = arguments[i].tensor;
    auto refuse = [&](const std::string &what) {
      throw Error({Diagnostic::Kind::Value, "argument '" + parameter.name + "' of " + entry.name + " is " + what, "", {}});
    };
    if (parameter.rank < 0) {
      if (tensor)
        refuse("a number, got a tensor");
      continue;
    }
    if (!tensor)
      refuse((entry.takesGrid ? "a pointer" : ofRank(parameter.rank)) + ", got a number");
    if (!entry.takesGrid && tensor->rank != parameter.rank)
      refuse(ofRank(parameter.rank) + ", got one of " + std::to_string(tensor->rank));
    const std::string missing = missingOf(*tensor);
    if (missing.empty())
      continue;
    if (tensor->rank > 0)
      refuse(ofRank(tensor->rank) + "; " + missing);
    if (runs)
      refuse("a pointer; it is null (where the kernel does not touch it, any other address does)");
  }
}
} // namespace tilery
