// Device functions in CUDA C++, as programs bring them.
#include "tests/fuzz/readers/reader.h"
#include "tilery/cuda_text.h"

using namespace tilery;

std::vector<std::string> readers::seeds() {
  return {
      R"(namespace a { template <typename T, int N> __device__ __forceinline__ T f(const T* p, int k = 3) {
  T v; asm volatile("ld.global.b32 %0, [%1];" : "=r"(v.x), "=r"(v.y) : "l"(p), "r"(0x1F) : "memory");
  if constexpr (sizeof(T) == 4) { __builtin_memcpy(&v, p, 4); } else if constexpr (sizeof(T) >= 2) { v = k * -1.5f + (2u - k); }
  *reinterpret_cast<uint4*>(p) = static_cast<int>(g(v.x, *reinterpret_cast<float*>(p))); // stored
  return; } })",
      "#if 0\\\n1\n#endif\n__device__ int f(void) { return 0xFFULL; /* no */ } extern \"C\" { __device__ void g(int x[3]) {} }"};
}

/// Each kind has as many parts as who reads it takes for granted.
static void check(const CudaNode &node) {
  auto holds = [&](size_t words, size_t least, size_t most) {
    if (node.words.size() != words || node.parts.size() < least || node.parts.size() > most)
      readers::defect("`" + node.text + "` is a " + node.kind);
  };
  const std::string &kind = node.kind;
  if (kind == "name" || kind == "part" || kind == "integer" || kind == "float" || kind == "address")
    holds(1, 0, 0);
  else if (kind == "static_cast" || kind == "reinterpret_cast" || kind == "load" || kind == "assign")
    holds(1, 1, 1);
  else if (kind == "binary")
    holds(1, 2, 2);
  else if (kind == "declare")
    holds(2, 0, 1);
  else if (kind == "copy" || kind == "store")
    holds(0, 2, 2);
  else if (kind == "return")
    holds(0, 0, 1);
  else if (kind == "choose")
    holds(2, 2, 2);
  else if (kind == "asm")
    holds(node.parts.size() + 1, std::get<int64_t>(node.number), node.parts.size());
  else if (kind != "call" && kind != "block" && kind != "unknown")
    readers::defect("there is no kind " + kind);
  for (const CudaNode &part : node.parts)
    check(part);
}

void readers::read(std::string_view bytes) {
  for (const CudaFunction &function : readCuda(bytes)) {
    check(function.body);
    for (const CudaFunction::Parameter &parameter : function.parameters)
      if (parameter.value)
        check(*parameter.value);
  }
}
