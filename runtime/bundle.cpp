// Choosing a variant of an entry for a call, and running it.
#include "tilery/bundle.h"
#include "runtime/bundle_arguments.h"
#include "runtime/bundle_conditions.h"
#include "tilery/diagnostic.h"
#include "tilery/abi.h"
#include "tilery/counted.h"
#include <algorithm>
#include <cstdlib>
#include <typeinfo>

namespace tilery {
namespace {

[[noreturn]] void refuse(std::string message, std::string hint = "") {
  throw Error({Diagnostic::Kind::Value, std::move(message), std::move(hint), {}});
}
} // namespace

struct Bundle::Loaded {
  std::vector<KernelPtr> kernels, withoutBoxes;
  std::optional<HostProgram> host;
  std::vector<size_t> order; ///< which argument of the entry each parameter of the host program, or slot of the kernel, is
  std::vector<bool> written; ///< of each argument of the entry: may the program store through it?

  std::vector<HostArgument> inOrder(std::span<const HostArgument> arguments) const {
    std::vector<HostArgument> own;
    for (size_t at : order)
      own.push_back(arguments[at]);
    return own;
  }
  void add(size_t argument, bool isWritten) {
    order.push_back(argument);
    if (isWritten)
      written[argument] = true;
  }
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

/// Stops where a call's arguments have been checked.
class ChecksAlone : public HostEnvironment {
public:
  void *allocate(std::span<const int64_t>, DType, bool) override { return nullptr; }
  bool launch(const Kernel &, const int64_t *, const uint64_t *, uint32_t) override { return false; }
};

/// What a program refuses of a call's arguments before it launches anything; empty if nothing.
std::string refusal(const HostProgram &host, std::span<const HostArgument> arguments, std::span<const KernelPtr> kernels) {
  try {
    ChecksAlone checks;
    host.run(arguments, kernels, checks);
  } catch (const Error &error) {
    const Diagnostic &told = error.diagnostic();
    return told.message + (told.hint.empty() ? "" : "\n  hint: " + told.hint);
  }
  return "";
}

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
  for (const HostArgument &argument : arguments) {
    if (const ArgInfo &info = kernel.info().args[slots.size()]; argument.readOnly && info.written)
      refuseReadOnly(info.name, kernel.info().name);
    slots.push_back(argument.tensor ? reinterpret_cast<uint64_t>(argument.tensor->data) : argument.bits);
  }
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
  auto owner = std::find_if(all.begin(), all.end(), [&](const BundleEntry &entry) {
    return &variant >= entry.variants.data() && &variant < entry.variants.data() + entry.variants.size();
  });
  auto code = std::make_unique<Loaded>();
  code->written.resize(owner->parameters.size());
  CodeImage image = deserialize(variant.image);
  code->kernels = tilery::load(image);
  if (!variant.withoutBoxes.empty())
    code->withoutBoxes = tilery::load(deserialize(variant.withoutBoxes));
  for (const KernelPtr &kernel : code->kernels)
    if (!code->withoutBoxes.empty() && !namesake(code->withoutBoxes, *kernel))
      refuse("of " + kernel->info().name + " there is no code without boxes, though of others there is");
  if (!image.host.empty()) {
    code->host = HostProgram::parse(image.host, image.kernels);
    for (const HostParameter &parameter : code->host->parameters)
      code->add(find(*owner, parameter.name, parameter.rank >= 0), parameter.written);
  } else if (code->kernels.size() == 1 && owner->takesGrid) {
    for (const ArgInfo &info : code->kernels.front()->info().args)
      code->add(find(*owner, info.name, info.pointer), info.written);
  } else {
    refuse(owner->name + " has an image without a host program, which must be one kernel that takes a grid");
  }
  return *loaded.emplace_back(&variant, std::move(code)).second;
}

bool Bundle::isFor(const BundleVariant &variant, std::span<const HostArgument> arguments, Place place) {
  const std::vector<bool> unknown(arguments.size(), true); // what is written, until the code is read
  const BundleCondition *apart = nullptr;
  for (const BundleCondition &condition : variant.conditions) {
    if (holds(condition, arguments, place, unknown))
      continue;
    if (condition.kind != BundleCondition::Disjoint)
      return false;
    apart = &condition;
  }
  return !apart || holds(*apart, arguments, place, load(variant).written);
}

std::string Bundle::whyNone(size_t number, std::span<const HostArgument> arguments, Place place) {
  const BundleEntry &entry = all.at(number);
  const std::vector<bool> unknown(arguments.size(), true);
  auto isBroken = [&](const BundleCondition &condition) { return !holds(condition, arguments, place, unknown); };
  std::vector<std::string> nearest;
  std::pair least(true, SIZE_MAX); // are its numbers others, how many conditions are broken
  for (const BundleVariant &variant : entry.variants) {
    if (std::any_of(variant.conditions.begin(), variant.conditions.end(),
                    [&](const BundleCondition &condition) { return isOfPlace(condition) && isBroken(condition); }))
      continue;
    std::vector<std::string> broken;
    bool hasOtherNumbers = false, isApartAlone = true;
    for (const BundleCondition &condition : variant.conditions) {
      if (!isBroken(condition))
        continue;
      hasOtherNumbers |= condition.kind == BundleCondition::NumberIs;
      const bool isApart = condition.kind == BundleCondition::Disjoint;
      isApartAlone &= isApart;
      if (std::string text = expectation(condition, entry, arguments, isApart ? load(variant).written : unknown); !text.empty())
        broken.push_back(std::move(text));
    }
    // Tensors of a wrong size reach into each other: that is no fault of where they lie.
    if (isApartAlone && !broken.empty() && load(variant).host) {
      Loaded &code = load(variant);
      if (std::string text = refusal(*code.host, code.inOrder(arguments), code.kernels); !text.empty())
        broken = {std::move(text)};
    }
    if (std::pair found(hasOtherNumbers, broken.size()); found < least)
      least = found, nearest = std::move(broken);
  }
  if (least.second == SIZE_MAX)
    return placesOf(entry, place);
  std::string text;
  for (const std::string &each : nearest)
    text += (text.empty() ? "" : "; ") + each;
  return text;
}

bool Bundle::call(size_t number, std::span<const HostArgument> arguments, const int64_t *grid, Place place) {
  const BundleEntry &entry = all.at(number);
  if (arguments.size() != entry.parameters.size())
    refuse(entry.name + " takes " + counted(entry.parameters.size(), "argument") + ", got " + std::to_string(arguments.size()));
  if (entry.takesGrid != (grid != nullptr))
    refuse(entry.name + (grid ? " computes its own grid; call it without one" : " needs a grid of three extents"));
  if (grid && std::min({grid[0], grid[1], grid[2]}) < 0)
    refuse("the extents of " + entry.name + "'s grid must not be negative, got " + std::to_string(grid[0]) + ", " +
           std::to_string(grid[1]) + ", " + std::to_string(grid[2]));
  checkArguments(entry, arguments, grid);
  for (const BundleVariant &variant : entry.variants) {
    if (!isFor(variant, arguments, place))
      continue;
    Loaded &code = load(variant);
    const std::vector<HostArgument> own = code.inOrder(arguments);
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
