// tilery._native.Launcher: from Python arguments to running programs. Written against the C API, because each launch pays for it.
#include "binding.h"
#include "ending.h"
#include "interrupts.h"
#include "launch_apart.h"
#include "launch_grid.h"
#include "launch_recorded.h"
#include "launcher_state.h"
#include "tilery/compilations.h"
#include "tilery/diagnostic.h"
#include "limited_api.h"
#include "tilery/counted.h"
#include <algorithm>
#include <optional>

namespace nb = nanobind;

namespace tilery::python {
namespace {

[[noreturn]] void failCall(const State &state, const std::string &rest, std::string hint = "") {
  throw Error({Diagnostic::Kind::Type, state.name + "() " + rest, std::move(hint), {}});
}

/// The parameter that a name which is none may mean, as a hint; empty: none is near.
std::string meant(const State &state, PyObject *name) {
  nb::list known;
  for (const auto &parameter : state.parameters)
    if (const char *text = PyUnicode_AsUTF8(parameter.name); text && *text != '_') // those are our own
      known.append(nb::borrow(parameter.name));
  return didYouMean(name, known);
}

size_t parameterNamed(const State &state, PyObject *name) {
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (state.parameters[i].name == name)
      return i;
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (PyUnicode_Compare(state.parameters[i].name, name) == 0)
      return i;
  failCall(state, "got an unexpected argument '" + std::string(PyUnicode_AsUTF8(name)) + "'", meant(state, name));
}

/// What a call binds, by parameter. Launches have many options, nearly all left at their defaults: those that a call does not name are
/// filled in by complete(), where somebody asks.
struct Bound {
  const State &state;
  PyObject **objects; ///< borrowed
  Argument *arguments;
  size_t count; ///< parameters bound so far: all, or those before the options

  void set(size_t i, PyObject *constant) {
    objects[i] = constant;
    arguments[i].kind = Argument::Constant;
    arguments[i].object = constant;
  }
  void complete() {
    for (; count < state.parameters.size(); ++count)
      set(count, state.parameters[count].defaultValue);
  }
};

/// Binds names; the arguments before the options are not read yet.
void bindArguments(Bound &bound, PyObject *const *args, size_t count, PyObject *keywords) {
  const State &state = bound.state;
  std::fill(bound.objects, bound.objects + state.leading, nullptr);
  if (count > state.leading)
    failCall(state, "takes " + counted(state.leading, "argument") + ", got " + std::to_string(count));
  std::copy(args, args + count, bound.objects);
  size_t named = keywords ? size_t(PyTuple_GET_SIZE(keywords)) : 0;
  for (size_t i = 0; i < named; ++i) {
    size_t at = parameterNamed(state, PyTuple_GET_ITEM(keywords, Py_ssize_t(i)));
    if (at >= state.leading) {
      bound.complete();
      bound.set(at, args[count + i]);
      continue;
    }
    if (bound.objects[at])
      failCall(state, "got argument '" + std::string(state.parameters[at].text) + "' twice");
    bound.objects[at] = args[count + i];
  }
  for (size_t i = 0; i < state.leading; ++i)
    if (!bound.objects[i] && !(bound.objects[i] = state.parameters[i].defaultValue))
      failCall(state, "is missing the argument '" + std::string(state.parameters[i].text) + "'");
}

PyObject *boundDictionary(const Bound &bound) {
  PyObject *dictionary = PyDict_Copy(bound.state.unbound.ptr());
  for (size_t i = 0; dictionary && i < bound.count; ++i)
    if (PyDict_SetItem(dictionary, bound.state.parameters[i].name, bound.objects[i]))
      Py_CLEAR(dictionary);
  if (!dictionary)
    throw PythonRaised{};
  return dictionary;
}

/// Where the launch runs: the number of the GPU that all its tensors are on, -1 if they are on the CPU. Those of no dimensions on the CPU
/// do not count: they may be numbers to the kernel. Throws Error if tensors are apart.
int launchDevice(const State &state, const Argument *arguments) {
  int found = -1;
  const char *first = nullptr;
  for (size_t i = 0; i < state.leading; ++i) {
    if (arguments[i].kind != Argument::Tensor)
      continue;
    const Device &device = arguments[i].tensor.device;
    int here = isGpu(device) ? device.index : -1;
    if (!isCpu(device) && !isGpu(device))
      throw Error({Diagnostic::Kind::Value,
                   "argument '" + std::string(state.parameters[i].text) + "' of " + state.name + " is on " + deviceName(device) +
                       "; expected a CPU or CUDA tensor",
                   "move it with .cpu() or .cuda()",
                   {}});
    if (here < 0 && arguments[i].tensor.rank == 0)
      continue;
    if (first && here != found)
      throw Error({Diagnostic::Kind::Value,
                   "argument '" + std::string(state.parameters[i].text) + "' of " + state.name + " is on " + deviceName(device) +
                       ", argument '" + first + "' on " + deviceName({found < 0 ? 1 : 2, found}),
                   "move all tensors of a launch to one device",
                   {}});
    first = state.parameters[i].text;
    found = here;
  }
  return found;
}

/// A plan's kernel takes parameters that are there at each launch.
void checkSlots(const State &state, const KernelPlan &plan) {
  for (uint32_t slot : plan.slots)
    if (slot >= state.leading)
      throw nb::value_error("a kernel argument must be a parameter before the options");
}

/// The kind of call, as the compile callback takes it.
nb::object signatureOf(const State &state, const Bound &bound, const std::vector<AliasPair> &aliases, int device) {
  nb::object params = nb::steal(signatureParams(bound.arguments, state.parameters, state.layout));
  nb::object pairs = nb::steal(signatureAliases(aliases));
  return nb::module_::import_("types").attr("SimpleNamespace")(nb::arg("params") = params, nb::arg("aliases") = pairs,
                                                               nb::arg("device") = device);
}

std::shared_ptr<Entry> compileEntry(State &state, Bound &bound, const std::vector<AliasPair> &aliases, int device) {
  bound.complete();
  nb::object signature = signatureOf(state, bound, aliases, device);
  nb::object named = nb::steal(boundDictionary(bound));
  auto entry = std::make_shared<Entry>();
  {
    std::optional<Compiling> compiling;
    {
      Released others; // who holds compilations may need them
      compiling.emplace();
    }
    entry->plan = callUntilEnd(state.compile, signature, named);
  }
  if (nb::isinstance<KernelPlan>(entry->plan))
    entry->kernelPlan = nb::inst_ptr<KernelPlan>(entry->plan), checkSlots(state, *entry->kernelPlan);
  else if (nb::isinstance<HostPlan>(entry->plan))
    entry->hostPlan = nb::inst_ptr<HostPlan>(entry->plan), entry->hostSlots = entry->hostPlan->bind(state.parameters);
  else if (!PyCallable_Check(entry->plan.ptr()))
    throw nb::type_error("the compile callback must return a KernelPlan, a HostPlan or a callable");
  return entry;
}

/// Unloads the half of the specialisations that was not used for longest. A program that makes ever new ones (a growing
/// constexpr) stays bounded.
void dropOldEntries(State &state) {
  constexpr size_t limit = 1024;
  if (state.entries.size() < limit)
    return;
  std::vector<uint64_t> uses;
  for (auto &[key, entry] : state.entries)
    uses.push_back(entry->lastUse);
  std::nth_element(uses.begin(), uses.begin() + limit / 2, uses.end());
  std::vector<std::shared_ptr<Entry>> dropped; // they die after the map is whole: their plans may run Python code
  for (auto it = state.entries.begin(); it != state.entries.end();) {
    if (it->second->lastUse >= uses[limit / 2]) {
      ++it;
      continue;
    }
    dropped.push_back(std::move(it->second));
    it = state.entries.erase(it);
  }
}

/// All that the entry and its flags hang on, as plain words.
void collectFacts(const Bound &bound, std::vector<uint64_t> &facts) {
  const std::vector<Parameter> &parameters = bound.state.parameters;
  for (size_t i = 0; i < bound.count; ++i)
    if (!parameters[i].compileTime())
      appendFacts(bound.arguments[i], facts);
    else if (bound.objects[i] != parameters[i].defaultValue || isChangeable(bound.objects[i]))
      appendConstant(bound.objects[i], i, facts);
}

/// The entry for arguments that are not the last launch's, compiled if there is none; sets `flags` for the launch.
std::shared_ptr<Entry> specialisedEntry(State &state, Bound &bound, uint32_t &flags) {
  const Argument *arguments = bound.arguments;
  int device = launchDevice(state, arguments);
  std::vector<AliasPair> aliases = aliasPairs(arguments, state.leading);
  std::string key = specialisationKey({arguments, bound.count}, state.parameters, aliases, state.layout, state.constants);
  key += char('0' + device);
  std::shared_ptr<Entry> entry;
  if (auto found = state.entries.find(key); found != state.entries.end()) {
    entry = found->second;
  } else {
    entry = compileEntry(state, bound, aliases, device);
    dropOldEntries(state);
    state.entries[key] = entry;
  }
  entry->device = device;
  entry->lastUse = ++state.uses;
  flags = entry->kernelPlan ? entry->kernelPlan->flags(arguments) : 0;
  return entry;
}

/// The entry for these arguments; sets `flags` for the launch.
std::shared_ptr<Entry> findEntry(State &state, Bound &bound, uint32_t &flags) {
  std::vector<uint64_t> facts = std::move(state.reused); // taken away, because compiling may launch this kernel
  facts.clear();
  collectFacts(bound, facts);
  std::shared_ptr<Entry> entry;
  if (facts == state.lastFacts && state.lastEntry) {
    entry = state.lastEntry;
    flags = state.lastFlags;
  } else {
    entry = specialisedEntry(state, bound, flags);
    std::vector<nb::object> constants;
    for (size_t i = 0; i < bound.count; ++i)
      if (bound.arguments[i].kind == Argument::Constant)
        constants.push_back(nb::borrow(bound.arguments[i].object));
    state.lastFacts.swap(facts);
    state.lastConstants.swap(constants); // the old ones die here, after the state is whole
    state.lastEntry = entry;
    state.lastFlags = flags;
  }
  state.reused = std::move(facts);
  return entry;
}

nb::object gridOf(const int64_t *extents) {
  return extents ? nb::object(nb::make_tuple(extents[0], extents[1], extents[2])) : nb::object(nb::none());
}

PyObject *callPlan(const Entry &entry, const Call &call, Bound &bound) {
  nb::object named = nb::steal(boundDictionary(bound));
  nb::object grid = gridOf(call.grid);
  return entry.plan(grid, named).release().ptr();
}

PyObject *firstGpuTensor(const Argument *arguments, size_t count) {
  auto found = std::find_if(arguments, arguments + count,
                            [](const Argument &a) { return a.kind == Argument::Tensor && isGpu(a.tensor.device); });
  return found == arguments + count ? nullptr : found->object;
}

/// The grid, where it is a function what that returns, which `computed` keeps alive.
PyObject *readyGrid(const Bound &bound, PyObject *grid, nb::object &computed) {
  if (!grid || !PyCallable_Check(grid))
    return grid;
  nb::object named = nb::steal(boundDictionary(bound));
  computed = nb::steal(untilEnd([&] { return PyObject_CallOneArg(grid, named.ptr()); }));
  if (!computed.is_valid())
    throw PythonRaised{};
  return computed.ptr();
}

/// Launches the arguments of `bound`; a grid that is a function gets those of `named`. False, with nothing done: argument `which` is a
/// structure or known at compile time.
bool launchBound(State &state, Bound &bound, const Bound &named, PyObject *grid, size_t &which, PyObject *&result) {
  const Argument *arguments = bound.arguments;
  ArgumentOwners owners;
  for (which = 0; which < state.leading; ++which)
    if (state.parameters[which].compileTime())
      bound.set(which, bound.objects[which]);
    else if (!readArgument(bound.objects[which], state.parameters[which].text, bound.arguments[which], owners))
      return false;

  nb::object computed;
  grid = readyGrid(named, grid, computed);
  int64_t extents[3];
  if (grid)
    readGrid(state.name, grid, extents);
  if (nb::object ask = recorders != 0 ? launchAsker() : nb::object(); ask.is_valid()) {
    bound.complete();
    int device = launchDevice(state, arguments);
    nb::object signature = signatureOf(state, bound, aliasPairs(arguments, state.leading), device);
    nb::object values = nb::steal(boundDictionary(bound));
    result = callUntilEnd(ask, state.compile, signature, values, gridOf(grid ? extents : nullptr)).release().ptr();
    return true;
  }
  uint32_t flags = 0;
  state.forgetIfChanged();
  std::shared_ptr<Entry> entry = findEntry(state, bound, flags);
  GpuPlace gpu{entry->device};
  if (gpu.device >= 0)
    gpu.stream = currentStream(firstGpuTensor(arguments, state.leading), gpu.device);
  Call call{state.name.c_str(), arguments, state.parameters, grid ? extents : nullptr, gpu};
  if (entry->kernelPlan) {
    result = entry->kernelPlan->run(call, flags);
    return true;
  }
  bound.complete();
  result = entry->hostPlan ? entry->hostPlan->run(call, entry->hostSlots) : callPlan(*entry, call, bound);
  return true;
}

/// Launches what arguments were taken apart into, by the launcher that takes such leaves; its options are those of `whole`. False: a leaf
/// is a structure still.
bool launchLeaves(const Apart &apart, const Bound &whole, PyObject *grid, PyObject *&result) {
  nb::object held = nb::borrow(apart.launcher);
  State &state = *reinterpret_cast<LauncherObject *>(apart.launcher)->state;
  size_t total = state.parameters.size(), options = whole.count - whole.state.leading;
  auto **objects = static_cast<PyObject **>(alloca((total + 1) * sizeof(PyObject *)));
  auto *arguments = static_cast<Argument *>(alloca((total + 1) * sizeof(Argument)));
  Bound bound{state, objects, arguments, state.leading};
  if (apart.leaves.size() != state.leading)
    failCall(state, "takes " + counted(state.leading, "argument") + ", got " + std::to_string(apart.leaves.size()));
  for (size_t i = 0; i < state.leading; ++i)
    objects[i] = apart.leaves[i].ptr();
  for (size_t i = 0; i < options; ++i)
    bound.set(bound.count++, whole.objects[whole.state.leading + i]);
  size_t which;
  return launchBound(state, bound, whole, grid, which, result);
}

/// A launch whose argument `which` is a structure or known at compile time.
PyObject *launchParts(PyObject *launcher, State &state, const Bound &bound, size_t which, const PythonCall &call) {
  PyObject *result = nullptr;
  if (call.grid) {
    if (!state.apart.is_valid())
      state.apart = structuresMet(launcher);
    Apart apart;
    if (takeApart(state.apart, {state.parameters, bound.objects, state.leading}, apart) &&
        launchLeaves(apart, bound, call.grid, result))
      return result;
  }
  return launchStructured(launcher, state.parameters[which].text, bound.objects[which], call);
}

PyObject *launchUnchecked(PyObject *launcher, State &state, const PythonCall &call) {
  size_t total = state.parameters.size();
  auto **objects = static_cast<PyObject **>(alloca((total + 1) * sizeof(PyObject *)));
  auto *arguments = static_cast<Argument *>(alloca((total + 1) * sizeof(Argument)));
  Bound bound{state, objects, arguments, state.leading};
  bindArguments(bound, call.args, call.count, call.keywords);
  size_t which;
  PyObject *result = nullptr;
  return launchBound(state, bound, bound, call.grid, which, result) ? result : launchParts(launcher, state, bound, which, call);
}

/// Whether a call goes to the method launch_observed, where there is one.
bool isObserved(const State &state, const PythonCall &call) {
  return allObserved || state.observed || (state.positional && (call.keywords || call.count != state.leading));
}
/// Raises what Python raised below a launch. Errors of ours say themselves where in the user's program they are, at least where it calls
/// us: their traceback begins there.
void raiseAgain(nb::python_error &error) {
  nb::handle value = error.value();
  bool known = nb::isinstance(value, nb::module_::import_("tilery.errors").attr("Error"));
  if (!known || nb::cast<bool>(value.attr("shows_frames"))) {
    error.restore();
    return;
  }
  if (nb::object chain = value.attr("chain"); !PyObject_IsTrue(chain.ptr()))
    value.attr("chain") = nb::module_::import_("tilery.core.frames").attr("of_caller")();
  PyException_SetTraceback(value.ptr(), Py_None);
  PyErr_SetObject(value.type().ptr(), value.ptr());
}
} // namespace

PyObject *launchChecked(PyObject *launcher, const PythonCall &call, bool plainly) {
  State *state = reinterpret_cast<LauncherObject *>(launcher)->state;
  if (!state) {
    PyErr_SetString(PyExc_TypeError, "Launcher.__init__ was not called");
    return nullptr;
  }
  try {
    PyObject *result = nullptr;
    if (!plainly && isObserved(*state, call) && launchObserved(launcher, call, result))
      return result;
    if (recorders != 0 && recordLaunch(launcher, call, result))
      return result;
    return launchUnchecked(launcher, *state, call);
  } catch (const Error &error) {
    setPythonError(error, true);
  } catch (const PythonRaised &) {
  } catch (nb::python_error &error) {
    raiseAgain(error);
  } catch (const nb::builtin_exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  }
  return nullptr;
}
} // namespace tilery::python
