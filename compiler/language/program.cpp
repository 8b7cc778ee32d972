// Building, compiling and launching a kernel of the C++ language.
#include "compiler/language/current.h"
#include "tilery/language.h"
#include <cstring>

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
    : name(name), params(params), mayAlias(mayAlias) {
  CompileOptions options;
  options.disjoint = !mayAlias;
  compiled_ = compile(*build(name, params, body), options);
  kernels = load(compiled_.image);
}

uint64_t Program::slot(size_t index, const LaunchArg &arg) const {
  const Param &param = params[index];
  auto refuse = [&](const std::string &got) {
    throw Error(Diagnostic{Diagnostic::Kind::Type,
                           "argument '" + param.name + "' of " + name + " must be " + param.type.str() + ", got " + got,
                           "",
                           {}});
  };
  if (auto *pointer = std::get_if<const void *>(&arg.value)) {
    if (!param.type.pointer ||
        (arg.pointee && *arg.pointee != param.type.element && bitWidth(*arg.pointee) != bitWidth(param.type.element)))
      refuse(std::string("a pointer to ") + (arg.pointee ? dtypeName(*arg.pointee) : "void"));
    return reinterpret_cast<uintptr_t>(*pointer);
  }
  if (param.type.pointer)
    refuse("a number");
  uint64_t bits = 0;
  if (isFloat(param.type.element)) {
    double number = std::visit(
        [](auto value) -> double {
          if constexpr (std::is_pointer_v<decltype(value)>)
            return 0;
          else
            return double(value);
        },
        arg.value);
    float narrow = float(number);
    if (param.type.element == DType::F64)
      std::memcpy(&bits, &number, sizeof number);
    else
      std::memcpy(&bits, &narrow, sizeof narrow);
    return bits;
  }
  if (std::holds_alternative<double>(arg.value))
    refuse("a floating-point number");
  if (auto *number = std::get_if<int64_t>(&arg.value))
    return uint64_t(*number);
  return std::get<uint64_t>(arg.value);
}

void Program::run(const std::array<int64_t, 3> &grid, const std::vector<LaunchArg> &args) const {
  if (args.size() != params.size())
    throw Error(Diagnostic{Diagnostic::Kind::Type,
                           name + " takes " + std::to_string(params.size()) + " arguments, got " + std::to_string(args.size()),
                           "",
                           {}});
  std::vector<uint64_t> slots;
  for (size_t i = 0; i < args.size(); ++i)
    slots.push_back(slot(i, args[i]));
  LaunchOptions options;
  options.flags = mayAlias ? 0 : TILERY_DISJOINT;
  tilery::launch(*kernels.front(), grid.data(), slots.data(), options);
}

} // namespace tilery
