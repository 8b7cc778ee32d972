// Choosing a variant of an entry for a call, and running it.
#include "tilery/bundle.h"
#include "runtime/bundle_arguments.h"
#include "tilery/diagnostic.h"
#include "tilery/abi.h"
#include <algorithm>
#include <cstdlib>
#include <typeinfo>

namespace tilery {
namespace {

[[noreturn]] void refuse(std::string message, std::string hint = "") {
  throw Error({Diagnostic::Kind::Value, std::move(message), std::move(hint), {}});
}

/// 80 for "sm_80:...".
int64_t capabilityOf(int device) {
  std::string target = gpuTarget(device);
  return std::atoi(target.c_str() + std::min<size_t>(3, target.size()));
}

bool overlap(std::span<const HostArgument> arguments) {
  std::vector<Span> spans;
  for (const HostArgument &argument : arguments)
    if (argument.tensor)
      if (Span span = byteSpan(*argument.tensor); span.first < span.last)
        spans.push_back(span);
  for (size_t i = 0; i < spans.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (spans[i].first < spans[j].last && spans[j].first < spans[i].last)
        return true;
  return false;
}

bool holds(const BundleCondition &condition, std::span<const HostArgument> arguments, Bundle::Place place) {
  using Kind = BundleCondition::Kind;
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
  case Kind::Disjoint:
    return !overlap(arguments);
  }
  return false;
}
} // namespace

struct Bundle::Loaded {
  std::vector<KernelPtr> kernels, withoutBoxes;
  std::optional<HostProgram> host;
  std::vector<size_t> order; ///< which argument of the entry each parameter of the host program, or slot of the kernel, is
};

namespace {

const KernelPtr *namesake(std::span<const KernelPtr> kernels, const Kernel &wanted) {
  auto found = std::find_if(kernels.begin(), kernels.end(),
                            [&](const KernelPtr &kernel) { return kernel->info().name == wanted.info().name; });
  return found == kernels.end() ? nullptr : &*found;
}

/// Launches on one place. What the program asks memory for lives until the call ends.
class PlaceEnvironment : public HostEnvironment {
public:
  PlaceEnvironment(Bundle::Place place, std::span<const KernelPtr> second) : place(place), second(second) {}
  ~PlaceEnvironment() override {
    for (void *memory : workspaces)
      std::free(memory);
  }
  void *allocate(std::span<const int64_t> extents, DType dtype, bool workspace) override {
    if (!workspace || place.device >= 0)
      refuse("the program makes a tensor; compiled ahead of time, it may make workspaces only, and on the CPU only",
             "make the tensor a parameter of the program");
    size_t elements = 1;
    for (int64_t extent : extents)
      elements *= size_t(extent);
    void *memory = std::aligned_alloc(64, (elements * byteWidth(dtype) + 127) / 64 * 64);
    if (!memory)
      throw std::bad_alloc();
    return workspaces.emplace_back(memory);
  }
  bool launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags) override {
    LaunchOptions options{.flags = flags,
                          .interrupted = place.interrupted,
                          .context = place.context,
                          .device = std::max(place.device, 0),
                          .stream = place.stream};
    if (!second.empty()) {
      options.context = this;
      options.withoutBoxes = [](void *context, const Kernel &wanted) -> const Kernel & {
        return **namesake(static_cast<PlaceEnvironment *>(context)->second, wanted);
      };
    }
    return tilery::launch(kernel, grid, args, options) == LaunchResult::Done;
  }

private:
  Bundle::Place place;
  std::span<const KernelPtr> second;
  std::vector<void *> workspaces;
};

/// The entry's parameter that a program takes by this name, as a tensor or as a number.
size_t find(const BundleEntry &entry, const std::string &name, bool asTensor) {
  for (size_t i = 0; i < entry.parameters.size(); ++i)
    if (const BundleParameter &p = entry.parameters[i]; p.name == name && !p.onlyChooses && (p.rank >= 0) == asTensor)
      return i;
  refuse(entry.name + " has no " + (asTensor ? "tensor '" : "number '") + name + "' that its program needs");
}

/// What the program refuses is told with the name that callers know it by.
void runHost(const HostProgram &host, const BundleEntry &entry, std::span<const HostArgument> arguments,
             std::span<const KernelPtr> kernels, PlaceEnvironment &environment) {
  try {
    host.run(arguments, kernels, environment);
  } catch (const Error &error) {
    Diagnostic told = error.diagnostic();
    if (typeid(error) != typeid(Error) || told.message.find(entry.name) != std::string::npos)
      throw;
    told.message = entry.name + ": " + told.message;
    throw Error(told);
  }
}

void launchKernel(const Kernel &kernel, std::span<const HostArgument> arguments, const int64_t *grid,
                  PlaceEnvironment &environment, bool disjoint) {
  std::vector<uint64_t> slots;
  for (const HostArgument &argument : arguments)
    slots.push_back(argument.tensor ? reinterpret_cast<uint64_t>(argument.tensor->data) : argument.bits);
  environment.launch(kernel, grid, slots.data(), disjoint && !kernel.gpuCode() ? TILERY_DISJOINT : 0);
}
} // namespace

Bundle::Bundle(std::string_view bytes) : all(parseBundle(bytes)) {}
Bundle::~Bundle() = default;

Bundle::Loaded &Bundle::load(const BundleVariant &variant) {
  std::lock_guard lock(mutex);
  for (auto &[known, code] : loaded)
    if (known == &variant)
      return *code;
  auto code = std::make_unique<Loaded>();
  CodeImage image = deserialize(variant.image);
  code->kernels = tilery::load(image);
  if (!variant.withoutBoxes.empty())
    code->withoutBoxes = tilery::load(deserialize(variant.withoutBoxes));
  for (const KernelPtr &kernel : code->kernels)
    if (!code->withoutBoxes.empty() && !namesake(code->withoutBoxes, *kernel))
      refuse("of " + kernel->info().name + " there is no code without boxes, though of others there is");
  auto owner = std::find_if(all.begin(), all.end(), [&](const BundleEntry &entry) {
    return &variant >= entry.variants.data() && &variant < entry.variants.data() + entry.variants.size();
  });
  if (!image.host.empty()) {
    code->host = HostProgram::parse(image.host, image.kernels);
    for (const HostParameter &parameter : code->host->parameters)
      code->order.push_back(find(*owner, parameter.name, parameter.rank >= 0));
  } else if (code->kernels.size() == 1 && owner->takesGrid) {
    for (const ArgInfo &info : code->kernels.front()->info().args)
      code->order.push_back(find(*owner, info.name, info.pointer));
  } else {
    refuse(owner->name + " has an image without a host program, which must be one kernel that takes a grid");
  }
  return *loaded.emplace_back(&variant, std::move(code)).second;
}

std::string Bundle::wrongExtent(size_t number, std::span<const HostArgument> arguments, Place place) const {
  using Kind = BundleCondition::Kind;
  const BundleEntry &entry = all.at(number);
  std::string wrong;
  for (const BundleVariant &variant : entry.variants) {
    const BundleCondition *extent = nullptr;
    bool isForPlace = true;
    for (const BundleCondition &condition : variant.conditions) {
      if (holds(condition, arguments, place))
        continue;
      isForPlace &= condition.kind != Kind::Cpu && condition.kind != Kind::Gpu && condition.kind != Kind::GpuExactly &&
                    condition.kind != Kind::NumberIs;
      if (condition.kind == Kind::ExtentIs && !extent)
        extent = &condition;
    }
    if (!isForPlace)
      continue;
    if (!extent)
      return {};
    if (wrong.empty())
      wrong = "argument '" + entry.parameters[extent->argument].name + "' has " +
              std::to_string(arguments[extent->argument].tensor->extents[extent->dim]) + " elements in dimension " +
              std::to_string(extent->dim) + "; " + std::to_string(extent->value) + " are expected";
  }
  return wrong;
}

bool Bundle::call(size_t number, std::span<const HostArgument> arguments, const int64_t *grid, Place place) {
  const BundleEntry &entry = all.at(number);
  if (arguments.size() != entry.parameters.size())
    refuse(entry.name + " takes " + std::to_string(entry.parameters.size()) + " arguments, got " +
           std::to_string(arguments.size()));
  if (entry.takesGrid != (grid != nullptr))
    refuse(entry.name + (grid ? " computes its own grid; call it without one" : " needs a grid of three extents"));
  if (grid && std::min({grid[0], grid[1], grid[2]}) < 0)
    refuse("the extents of " + entry.name + "'s grid must not be negative, got " + std::to_string(grid[0]) + ", " +
           std::to_string(grid[1]) + ", " + std::to_string(grid[2]));
  checkArguments(entry, arguments, grid);
  for (const BundleVariant &variant : entry.variants) {
    if (!std::all_of(variant.conditions.begin(), variant.conditions.end(),
                     [&](const BundleCondition &condition) { return holds(condition, arguments, place); }))
      continue;
    Loaded &code = load(variant);
    std::vector<HostArgument> own;
    for (size_t at : code.order)
      own.push_back(arguments[at]);
    PlaceEnvironment environment(place, code.withoutBoxes);
    if (code.host)
      runHost(*code.host, entry, own, code.kernels, environment);
    else
      launchKernel(*code.kernels.at(0), own, grid, environment,
                   std::any_of(variant.conditions.begin(), variant.conditions.end(),
                               [](const BundleCondition &c) { return c.kind == BundleCondition::Disjoint; }));
    return true;
  }
  return false;
}
} // namespace tilery
