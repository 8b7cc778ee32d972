// Building and compiling a kernel of the C++ language.
#include "compiler/language/current.h"
#include "tilery/language.h"

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

Program::Program(const std::string &name, const std::vector<Param> &params, const Body &body, bool mayAlias)
    : mayAlias(mayAlias) {
  CompileOptions options;
  options.disjoint = !mayAlias;
  compiled_ = compile(*build(name, params, body), options);
  kernels = load(compiled_.image);
}

} // namespace tilery
