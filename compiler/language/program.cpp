// Building and compiling a kernel of the C++ language.
#include "compiler/language/current.h"
#include "tilery/language.h"
#include <mutex>

namespace tilery {

static std::shared_ptr<Module> build(const std::string &name, const std::vector<Param> &params, const Program::Body &body) {
  Builder builder(Policy::Triton);
  BuilderScope scope(builder);
  std::vector<Tile> tiles;
  for (Value &value : builder.beginKernel(name, params))
    tiles.emplace_back(value);
  body(tiles);
  builder.endKernel();
  return builder.finish();
}

/// The kernel for arguments that share memory, compiled when a launch first has such.
struct Program::InPlace {
  std::shared_ptr<Module> module;
  std::once_flag once;
  std::vector<KernelPtr> kernels;
};

Program::Program(const std::string &name, const std::vector<Param> &params, const Body &body, bool mayAlias)
    : mayAlias(mayAlias), inPlace(std::make_shared<InPlace>()) {
  CompileOptions options;
  options.disjoint = !mayAlias;
  inPlace->module = build(name, params, body);
  compiled_ = compile(*inPlace->module, options);
  kernels = load(compiled_.image);
}

void Program::run(const std::array<int64_t, 3> &grid, std::initializer_list<LaunchArg> args) const {
  if (mayAlias || !sharedArguments(kernels.front()->info(), args)) {
    tilery::launch(*kernels.front(), grid, args, {.flags = mayAlias ? 0 : TILERY_DISJOINT});
    return;
  }
  std::call_once(inPlace->once, [&] { inPlace->kernels = load(compile(*inPlace->module, CompileOptions{}).image); });
  tilery::launch(*inPlace->kernels.front(), grid, args);
}

} // namespace tilery
