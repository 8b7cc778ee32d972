#include "runtime/cuda/assembler.h"
#include "runtime/cuda/fewer_blocks.h"
#include <dlfcn.h>

namespace tilery::cuda {
namespace {

using Handle = struct CompilerTag *;

// name, arguments; every function returns 0 or the compiler's error code.
#define TILERY_PTX_COMPILER_FUNCTIONS(F)                                                                                         \
  F(nvPTXCompilerCreate, Handle *, size_t, const char *)                                                                         \
  F(nvPTXCompilerDestroy, Handle *)                                                                                              \
  F(nvPTXCompilerCompile, Handle, int, const char *const *)                                                                      \
  F(nvPTXCompilerGetCompiledProgramSize, Handle, size_t *)                                                                       \
  F(nvPTXCompilerGetCompiledProgram, Handle, void *)                                                                             \
  F(nvPTXCompilerGetInfoLogSize, Handle, size_t *)                                                                               \
  F(nvPTXCompilerGetInfoLog, Handle, char *)                                                                                     \
  F(nvPTXCompilerGetErrorLogSize, Handle, size_t *)                                                                              \
  F(nvPTXCompilerGetErrorLog, Handle, char *)

struct Compiler {
#define F(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  TILERY_PTX_COMPILER_FUNCTIONS(F)
#undef F

  /// Null if this machine has none.
  static const Compiler *find() {
    static const Compiler *compiler = open();
    return compiler;
  }

private:
  static const Compiler *open() {
    void *library = dlopen("libnvidia-ptxjitcompiler.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return nullptr;
    static Compiler compiler;
    bool complete = true;
#define F(name, ...)                                                                                                             \
  compiler.name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(library, #name));                                                 \
  complete &= compiler.name != nullptr;
    TILERY_PTX_COMPILER_FUNCTIONS(F)
#undef F
    return complete ? &compiler : nullptr;
  }
};

/// One compilation.
class Compilation {
public:
  Compilation(const Compiler &compiler, const std::string &ptx) : compiler(compiler), lines(hasLines(ptx)) {
    result = compiler.nvPTXCompilerCreate(&handle, ptx.size(), ptx.c_str());
  }
  ~Compilation() {
    if (handle)
      compiler.nvPTXCompilerDestroy(&handle);
  }
  Compilation(const Compilation &) = delete;

  /// The machine code; empty if the compiler refuses.
  std::string run(const std::string &arch) {
    std::string name = "--gpu-name=" + arch;
    // Verbose: the log names spills and instructions it gave up on.
    const char *options[] = {name.c_str(), "-v", "--generate-line-info"};
    if (result == 0)
      result = compiler.nvPTXCompilerCompile(handle, lines ? 3 : 2, options);
    size_t size = 0;
    if (result == 0)
      result = compiler.nvPTXCompilerGetCompiledProgramSize(handle, &size);
    std::string code(result == 0 ? size : 0, '\0');
    if (result == 0)
      result = compiler.nvPTXCompilerGetCompiledProgram(handle, code.data());
    return result == 0 ? code : "";
  }
  std::string infoLog() const { return log(compiler.nvPTXCompilerGetInfoLogSize, compiler.nvPTXCompilerGetInfoLog); }
  std::string refusal() const {
    std::string text = handle ? log(compiler.nvPTXCompilerGetErrorLogSize, compiler.nvPTXCompilerGetErrorLog) : "";
    return text.empty() ? "the PTX compiler's error " + std::to_string(result) : text;
  }

private:
  std::string log(int (*sizeOf)(Handle, size_t *), int (*get)(Handle, char *)) const {
    size_t size = 0;
    if (sizeOf(handle, &size) || size == 0)
      return "";
    std::string text(size + 1, '\0');
    get(handle, text.data());
    text.resize(text.find('\0'));
    return text;
  }

  const Compiler &compiler;
  bool lines;
  Handle handle = nullptr;
  int result = 0;
};

Assembly assembleOnce(const Compiler &compiler, const std::string &ptx, const std::string &arch) {
  Compilation compilation(compiler, ptx);
  Assembly assembly;
  assembly.code = compilation.run(arch);
  if (assembly.code.empty()) {
    assembly.refusal = compilation.refusal();
    return assembly;
  }
  std::string log = compilation.infoLog();
  assembly.gaveUp = gaveUpOn(log);
  assembly.spills = spillsOf(log);
  return assembly;
}

} // namespace

bool hasLines(const std::string &ptx) { return ptx.find("\n\t.loc\t") != std::string::npos; }

Assembly assemble(const std::string &ptx, const std::string &arch) {
  const Compiler *compiler = Compiler::find();
  if (!compiler)
    return {};
  Assembly best = assembleOnce(*compiler, ptx, arch);
  for (std::string text = withFewerBlocks(ptx, best.spills); !text.empty(); text = withFewerBlocks(text, best.spills)) {
    Assembly next = assembleOnce(*compiler, text, arch);
    if (next.code.empty() || spilledBytes(next.spills) >= spilledBytes(best.spills))
      break;
    best = std::move(next);
  }
  return best;
}

} // namespace tilery::cuda

bool tilery::gpuAssemblerIsHere() { return cuda::Compiler::find() != nullptr; }
