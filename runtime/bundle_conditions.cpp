// Conditions of a bundle's variants: whether a call meets them, and what is said where it does not.
#include "runtime/bundle_conditions.h"
#include "tilery/counted.h"
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

namespace tilery {
namespace {
using Kind = BundleCondition::Kind;

/// 80 for "sm_80:...".
int64_t capabilityOf(int device) {
  std::string target = gpuTarget(device);
  return std::atoi(target.c_str() + std::min<size_t>(3, target.size()));
}

/// The first two tensors that share memory of which one is written.
std::optional<std::pair<size_t, size_t>> overlap(std::span<const HostArgument> arguments, const std::vector<bool> &written) {
  std::vector<std::pair<size_t, Span>> spans;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].tensor)
      if (Span span = byteSpan(*arguments[i].tensor); span.first < span.last)
        spans.emplace_back(i, span);
  for (auto b = spans.begin(); b != spans.end(); ++b)
    for (auto a = spans.begin(); a != b; ++a)
      if (a->second.first < b->second.last && b->second.first < a->second.last && (written[a->first] || written[b->first]))
        return std::pair(a->first, b->first);
  return {};
}

/// "8", "8 or 16".
std::string listed(const std::set<std::string> &texts) {
  std::string all;
  size_t left = texts.size();
  for (const std::string &text : texts)
    all += text + (--left > 1 ? ", " : left ? " or " : "");
  return all;
}

std::string machineOf(const BundleCondition &condition) {
  if (condition.kind != Kind::Cpu)
    return "GPUs of sm_" + std::to_string(condition.value) + (condition.kind == Kind::Gpu ? " and later" : "");
  const std::string target = cpuTargetOf(uint64_t(condition.value));
  return target.empty() ? "CPUs like the one that compiled it" : "CPUs of " + target;
}
} // namespace

bool isOfPlace(const BundleCondition &condition) {
  return condition.kind == Kind::Cpu || condition.kind == Kind::Gpu || condition.kind == Kind::GpuExactly;
}

bool holds(const BundleCondition &condition, std::span<const HostArgument> arguments, Bundle::Place place,
           const std::vector<bool> &written) {
  const auto value = condition.value;
  auto tensor = [&]() -> const Tensor & { return *arguments[condition.argument].tensor; };
  switch (condition.kind) {
  case Kind::Cpu:
    return place.device < 0 && (cpuFeatures() & uint64_t(value)) == uint64_t(value);
  case Kind::Gpu:
    return place.device >= 0 && capabilityOf(place.device) >= value;
  case Kind::GpuExactly:
    return place.device >= 0 && capabilityOf(place.device) == value;
  case Kind::AddressDivisible:
    return reinterpret_cast<uintptr_t>(tensor().data) % uint64_t(value) == 0;
  case Kind::ExtentIs:
    return tensor().extents[condition.dim] == value;
  case Kind::ExtentDivisible:
    return tensor().extents[condition.dim] % value == 0;
  case Kind::StrideIs:
    return tensor().strides[condition.dim] == value;
  case Kind::StrideDivisible:
    return tensor().strides[condition.dim] > 0 && tensor().strides[condition.dim] % value == 0;
  case Kind::NumberIs:
    return int64_t(arguments[condition.argument].bits) == value;
  case Kind::NumberDivisible:
    return int64_t(arguments[condition.argument].bits) % value == 0;
  case Kind::Disjoint:
    return !overlap(arguments, written);
  }
  return false;
}

std::string expectation(const BundleCondition &condition, const BundleEntry &entry, std::span<const HostArgument> arguments,
                        const std::vector<bool> &written) {
  const std::string value = std::to_string(condition.value), dim = std::to_string(condition.dim);
  const HostArgument &argument = arguments[condition.argument];
  const std::string name = "argument '" + entry.parameters[condition.argument].name + "'";
  auto extent = [&] {
    return name + " has " + counted(argument.tensor->extents[condition.dim], "element") + " in dimension " + dim + "; ";
  };
  auto stride = [&] {
    return name + " has stride " + std::to_string(argument.tensor->strides[condition.dim]) + " in dimension " + dim + "; ";
  };
  switch (condition.kind) {
  case Kind::Cpu:
  case Kind::Gpu:
  case Kind::GpuExactly:
    return machineOf(condition) + " are expected";
  case Kind::AddressDivisible: {
    const uint64_t beyond = reinterpret_cast<uintptr_t>(argument.tensor->data) % uint64_t(condition.value);
    return name + " begins " + std::to_string(beyond) + " bytes behind a multiple of " + value + "; a multiple of " + value +
           " is expected of its address";
  }
  case Kind::ExtentIs:
    return extent() + value + " are expected";
  case Kind::ExtentDivisible:
    return extent() + "a multiple of " + value + " is expected";
  case Kind::StrideIs:
    return stride() + value + " is expected";
  case Kind::StrideDivisible:
    return stride() + "a positive multiple of " + value + " is expected";
  case Kind::NumberIs: {
    std::set<std::string> known;
    for (const BundleVariant &variant : entry.variants)
      for (const BundleCondition &other : variant.conditions)
        if (other.kind == Kind::NumberIs && other.argument == condition.argument)
          known.insert(std::to_string(other.value));
    return name + " is " + std::to_string(int64_t(argument.bits)) + "; " + listed(known) + " is expected";
  }
  case Kind::NumberDivisible:
    return name + " is " + std::to_string(int64_t(argument.bits)) + "; a multiple of " + value + " is expected";
  case Kind::Disjoint:
    if (auto both = overlap(arguments, written)) {
      auto [a, b] = *both;
      if (!written[b])
        std::swap(a, b);
      return "arguments '" + entry.parameters[a].name + "' and '" + entry.parameters[b].name + "' share memory, and '" +
             entry.parameters[b].name + "' is written; a tensor of its own is expected";
    }
  }
  return {};
}

std::string placesOf(const BundleEntry &entry, Bundle::Place place) {
  std::set<std::string> known;
  for (const BundleVariant &variant : entry.variants)
    for (const BundleCondition &condition : variant.conditions)
      if (isOfPlace(condition))
        known.insert(machineOf(condition));
  const std::string here = place.device < 0 ? "this CPU" : "a GPU of " + gpuTarget(place.device).substr(0, 5);
  return "its code is for " + listed(known) + ", the call on " + here;
}
} // namespace tilery
