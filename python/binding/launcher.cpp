// tilery._native.Launcher: from Python arguments to running programs. Written against the C API, because each launch pays for it.
#include "binding.h"
#include "launch_apart.h"
#include "launch_grid.h"
#include "launch_plan.h"
#include "launch_recorded.h"
#include "tilery/diagnostic.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <structmember.h>
#include <unordered_map>

namespace nb = nanobind;

namespace tilery::python {
namespace {

struct Entry {
  int device = -1; ///< the GPU's number; -1: the CPU
  nb::object plan;
  const KernelPlan *kernelPlan = nullptr; ///< `plan`, if it is one
  const HostPlan *hostPlan = nullptr;     ///< `plan`, if it is one
  std::vector<uint32_t> hostSlots;        ///< parameter position of each argument of the host program
  uint64_t lastUse = 0;
};

/// A global that a trace read: `dict[key]` was `value`.
struct Watch {
  nb::object dict, key, value;
};

struct State {
  std::string name;
  std::vector<Parameter> parameters;
  size_t leading = 0;                  ///< parameters before the options
  nb::object compile, names, defaults; ///< names and defaults keep the objects alive that `parameters` borrows
  nb::dict unbound;                    ///< all names in order, options with their defaults
  bool layout = false;
  bool observed = false; ///< its calls go to the method launch_observed
  ConstantTable constants;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
  uint64_t uses = 0; ///< a clock for Entry::lastUse
  // The last launch: equal facts need no key.
  std::vector<uint64_t> lastFacts;
  std::vector<nb::object> lastConstants; ///< their addresses are facts
  std::shared_ptr<Entry> lastEntry;
  uint32_t lastFlags = 0;
  std::vector<Watch> watched; ///< what all entries hang on beside their key

  /// Drops all entries.
  void forget() {
    auto gone = std::move(entries);
    auto last = std::move(lastEntry);
    entries.clear();
    lastFacts.clear();
  }
  void forgetIfChanged() {
    for (const Watch &watch : watched)
      if (PyDict_GetItemWithError(watch.dict.ptr(), watch.key.ptr()) != watch.value.ptr()) {
        auto gone = std::move(watched);
        watched.clear();
        forget();
        return;
      }
  }
};

struct LauncherObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  State *state;
};

/// launcher[grid]
struct BoundObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *launcher;
  PyObject *grid;
};

PyTypeObject *launcherType, *boundType;

[[noreturn]] void failCall(const State &state, const std::string &rest, std::string hint = "") {
  throw Error({Diagnostic::Kind::Type, state.name + "() " + rest, std::move(hint), {}});
}

size_t parameterNamed(const State &state, PyObject *name) {
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (state.parameters[i].name == name)
      return i;
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (PyUnicode_Compare(state.parameters[i].name, name) == 0)
      return i;
  failCall(state, "got an unexpected argument '" + std::string(PyUnicode_AsUTF8(name)) + "'");
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
    failCall(state, "takes " + std::to_string(state.leading) + " arguments, got " + std::to_string(count));
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
    int here = device.kind == 2 ? device.index : -1;
    if (device.kind != 1 && device.kind != 2 && device.kind != 3) // 3: host memory pinned for CUDA
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

std::shared_ptr<Entry> compileEntry(State &state, Bound &bound, const std::vector<AliasPair> &aliases, int device) {
  bound.complete();
  nb::object params = nb::steal(signatureParams(bound.arguments, state.parameters, state.layout));
  nb::object pairs = nb::steal(signatureAliases(aliases));
  nb::object signature = nb::module_::import_("types").attr("SimpleNamespace")(
      nb::arg("params") = params, nb::arg("aliases") = pairs, nb::arg("device") = device);
  nb::object named = nb::steal(boundDictionary(bound));
  auto entry = std::make_shared<Entry>();
  entry->plan = state.compile(signature, named);
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
  static thread_local std::vector<uint64_t> reused;
  std::vector<uint64_t> facts = std::move(reused); // taken away, because compiling may launch other kernels
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
  reused = std::move(facts);
  return entry;
}

PyObject *callPlan(const Entry &entry, const Call &call, Bound &bound) {
  nb::object named = nb::steal(boundDictionary(bound));
  nb::object grid = call.grid ? nb::object(nb::make_tuple(call.grid[0], call.grid[1], call.grid[2])) : nb::object(nb::none());
  return entry.plan(grid, named).release().ptr();
}

PyObject *firstGpuTensor(const Argument *arguments, size_t count) {
  auto found = std::find_if(arguments, arguments + count,
                            [](const Argument &a) { return a.kind == Argument::Tensor && a.tensor.device.kind == 2; });
  return found == arguments + count ? nullptr : found->object;
}

/// The grid, where it is a function what that returns, which `computed` keeps alive.
PyObject *readyGrid(Bound &bound, PyObject *grid, nb::object &computed) {
  if (!grid || !PyCallable_Check(grid))
    return grid;
  nb::object named = nb::steal(boundDictionary(bound));
  computed = nb::steal(PyObject_CallOneArg(grid, named.ptr()));
  if (!computed.is_valid())
    throw PythonRaised{};
  return computed.ptr();
}

/// A launch whose argument `which` is a structure or known at compile time.
PyObject *launchParts(PyObject *launcher, Bound &bound, size_t which, const PythonCall &call) {
  const State &state = bound.state;
  nb::object computed;
  PyObject *result = nullptr;
  if (call.grid && launchApart(
                       launcher, {state.parameters, bound.objects, state.leading, bound.count},
                       [&] { return readyGrid(bound, call.grid, computed); }, result))
    return result;
  return launchStructured(launcher, state.parameters[which].text, bound.objects[which], call);
}

PyObject *launchUnchecked(PyObject *launcher, State &state, PyObject *grid, PyObject *const *args, size_t count,
                          PyObject *keywords) {
  size_t total = state.parameters.size();
  auto **objects = static_cast<PyObject **>(alloca((total + 1) * sizeof(PyObject *)));
  auto *arguments = static_cast<Argument *>(alloca((total + 1) * sizeof(Argument)));
  Bound bound{state, objects, arguments, state.leading};
  bindArguments(bound, args, count, keywords);

  ArgumentOwners owners;
  for (size_t i = 0; i < state.leading; ++i)
    if (state.parameters[i].compileTime())
      bound.set(i, objects[i]);
    else if (!readArgument(objects[i], state.parameters[i].text, arguments[i], owners))
      return launchParts(launcher, bound, i, {grid, args, count, keywords});

  nb::object computed;
  grid = readyGrid(bound, grid, computed);
  int64_t extents[3];
  if (grid)
    readGrid(state.name, grid, extents);
  uint32_t flags = 0;
  state.forgetIfChanged();
  std::shared_ptr<Entry> entry = findEntry(state, bound, flags);
  GpuPlace gpu{entry->device};
  if (gpu.device >= 0)
    gpu.stream = currentStream(firstGpuTensor(arguments, state.leading), gpu.device);
  Call call{state.name.c_str(), arguments, state.parameters, grid ? extents : nullptr, gpu};
  if (entry->kernelPlan)
    return entry->kernelPlan->run(call, flags);
  bound.complete();
  if (entry->hostPlan)
    return entry->hostPlan->run(call, entry->hostSlots);
  return callPlan(*entry, call, bound);
}

PyObject *launchChecked(PyObject *launcher, PyObject *grid, PyObject *const *args, size_t count, PyObject *keywords,
                        bool plainly = false) {
  State *state = reinterpret_cast<LauncherObject *>(launcher)->state;
  if (!state) {
    PyErr_SetString(PyExc_TypeError, "Launcher.__init__ was not called");
    return nullptr;
  }
  try {
    PyObject *result = nullptr;
    if ((allObserved || state->observed) && !plainly && launchObserved(launcher, {grid, args, count, keywords}, result))
      return result;
    if (recorders != 0 && recordLaunch(launcher, {grid, args, count, keywords}, result))
      return result;
    return launchUnchecked(launcher, *state, grid, args, count, keywords);
  } catch (const Error &error) {
    setPythonError(error);
  } catch (const PythonRaised &) {
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const nb::builtin_exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject *launcherCall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  return launchChecked(self, nullptr, args, size_t(PyVectorcall_NARGS(flags)), keywords);
}

PyObject *boundCall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  auto *bound = reinterpret_cast<BoundObject *>(self);
  return launchChecked(bound->launcher, bound->grid, args, size_t(PyVectorcall_NARGS(flags)), keywords);
}

PyObject *launcherSubscript(PyObject *self, PyObject *grid) {
  auto *bound = PyObject_GC_New(BoundObject, boundType);
  if (!bound)
    return nullptr;
  bound->vectorcall = boundCall;
  bound->launcher = Py_NewRef(self);
  bound->grid = Py_NewRef(grid);
  PyObject_GC_Track(bound);
  return reinterpret_cast<PyObject *>(bound);
}

void readParameters(State &state, nb::handle params) {
  nb::list names, defaults;
  bool seenOption = false;
  for (nb::handle item : params) {
    nb::tuple tuple = nb::cast<nb::tuple>(item);
    nb::str name = nb::cast<nb::str>(tuple[0]);
    PyObject *interned = name.release().ptr();
    PyUnicode_InternInPlace(&interned);
    names.append(nb::steal(interned));
    std::string kind = nb::cast<nb::str>(tuple[1]).c_str();
    Parameter parameter{interned, PyUnicode_AsUTF8(interned), Parameter::Runtime, nullptr};
    if (kind == "plain")
      parameter.kind = Parameter::Plain;
    else if (kind == "constexpr")
      parameter.kind = Parameter::Constexpr;
    else if (kind == "option")
      parameter.kind = Parameter::Option;
    else if (kind != "runtime")
      throw nb::value_error("a parameter is 'runtime', 'plain', 'constexpr' or 'option'");
    if (seenOption && parameter.kind != Parameter::Option)
      throw nb::value_error("options come last");
    seenOption = parameter.kind == Parameter::Option;
    if (nb::len(tuple) > 2) {
      defaults.append(tuple[2]);
      parameter.defaultValue = nb::object(tuple[2]).ptr();
    } else if (seenOption) {
      parameter.defaultValue = Py_None;
    }
    state.parameters.push_back(parameter);
    state.leading += !seenOption;
    state.unbound[nb::handle(interned)] = nb::handle(seenOption ? parameter.defaultValue : Py_None);
  }
  if (state.parameters.size() > 255)
    throw nb::value_error("more than 255 parameters");
  state.names = names;
  state.defaults = defaults;
}

int launcherInit(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *known[] = {"name", "params", "compile", "layout", nullptr};
  const char *name;
  PyObject *params, *compile;
  int layout = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOO|p", const_cast<char **>(known), &name, &params, &compile, &layout))
    return -1;
  try {
    auto state = std::make_unique<State>();
    state->name = name;
    state->layout = layout;
    state->compile = nb::borrow(compile);
    readParameters(*state, params);
    auto *launcher = reinterpret_cast<LauncherObject *>(self);
    delete std::exchange(launcher->state, state.release());
    launcher->vectorcall = launcherCall;
    return 0;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
  return -1;
}

int launcherTraverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state) {
    Py_VISIT(state->compile.ptr());
    Py_VISIT(state->names.ptr());
    Py_VISIT(state->defaults.ptr());
    Py_VISIT(state->unbound.ptr());
    Py_VISIT(state->constants.dictionary());
    for (auto &[key, entry] : state->entries)
      Py_VISIT(entry->plan.ptr());
    for (nb::object &object : state->lastConstants)
      Py_VISIT(object.ptr());
    for (Watch &watch : state->watched) {
      Py_VISIT(watch.dict.ptr());
      Py_VISIT(watch.value.ptr());
    }
  }
  return 0;
}

int launcherClear(PyObject *self) {
  delete std::exchange(reinterpret_cast<LauncherObject *>(self)->state, nullptr);
  return 0;
}

void launcherDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  launcherClear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Forgets all specialisations.
PyObject *launcherForget(PyObject *self, PyObject *) {
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state)
    state->forget();
  Py_RETURN_NONE;
}

PyObject *launcherObserve(PyObject *self, PyObject *on) {
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state)
    state->observed = PyObject_IsTrue(on) == 1;
  Py_RETURN_NONE;
}

/// launch_plainly(grid, *args, **kwargs): what launch_observed calls between its functions.
PyObject *launcherLaunchPlainly(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "launch_plainly(grid, ...) needs a grid");
    return nullptr;
  }
  PyObject *grid = args[0] == Py_None ? nullptr : args[0];
  return launchChecked(self, grid, args + 1, size_t(count) - 1, keywords, /*plainly=*/true);
}

/// watch([(dict, key, value)]): replaces the list of globals whose change makes all specialisations stale.
PyObject *launcherWatch(PyObject *self, PyObject *list) {
  State *state = reinterpret_cast<LauncherObject *>(self)->state;
  try {
    std::vector<Watch> watched;
    for (nb::handle item : nb::handle(list)) {
      nb::tuple watch = nb::cast<nb::tuple>(item);
      watched.push_back({nb::cast<nb::dict>(watch[0]), watch[1], watch[2]});
    }
    if (state)
      state->watched.swap(watched);
    Py_RETURN_NONE;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return nullptr;
}

int boundTraverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<BoundObject *>(self)->launcher);
  Py_VISIT(reinterpret_cast<BoundObject *>(self)->grid);
  return 0;
}
void boundDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(reinterpret_cast<BoundObject *>(self)->launcher);
  Py_DECREF(reinterpret_cast<BoundObject *>(self)->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMemberDef launcherMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, vectorcall), READONLY, nullptr},
                                 {}};
PyMemberDef boundMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, vectorcall), READONLY, nullptr}, {}};
PyMethodDef launcherMethods[] = {
    {"forget", launcherForget, METH_NOARGS, "Forgets all compiled specialisations."},
    {"watch", launcherWatch, METH_O,
     "watch([(dict, key, value)]): specialisations are forgotten once one of dict[key] is another object."},
    {"observe", launcherObserve, METH_O, "observe(on): whether this launcher's calls go to its method launch_observed."},
    {"launch_plainly", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launcherLaunchPlainly)),
     METH_FASTCALL | METH_KEYWORDS, "launch_plainly(grid, *args, **kwargs): a call that does not go to launch_observed."},
    {}};
PyType_Slot launcherSlots[] = {
    {Py_tp_doc,
     const_cast<char *>(
         "Launcher(name, params, compile, layout=False): specialises, compiles and launches. See docs/reference/python.md.")},
    {Py_tp_init, reinterpret_cast<void *>(launcherInit)},
    {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void *>(launcherTraverse)},
    {Py_tp_clear, reinterpret_cast<void *>(launcherClear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(launcherDealloc)},
    {Py_mp_subscript, reinterpret_cast<void *>(launcherSubscript)},
    {Py_tp_members, launcherMembers},
    {Py_tp_methods, launcherMethods},
    {0, nullptr}};
PyType_Slot boundSlots[] = {{Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                            {Py_tp_traverse, reinterpret_cast<void *>(boundTraverse)},
                            {Py_tp_dealloc, reinterpret_cast<void *>(boundDealloc)},
                            {Py_tp_members, boundMembers},
                            {0, nullptr}};
PyType_Spec launcherSpec = {"tilery._native.Launcher", sizeof(LauncherObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                            launcherSlots};
PyType_Spec boundSpec = {"tilery._native.BoundLauncher", sizeof(BoundObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, boundSlots};
} // namespace

void bindLauncher(nb::module_ &m) {
  launcherType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&launcherSpec));
  boundType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&boundSpec));
  if (!launcherType || !boundType)
    throw nb::python_error();
  m.attr("Launcher") = nb::handle(reinterpret_cast<PyObject *>(launcherType));
}
} // namespace tilery::python
