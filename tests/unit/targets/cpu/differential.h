#pragma once
// The same kernel through the oracle and through machine code, on the same bytes.
#include "run_kernel.h"
#include "compiler/oracle/oracle.h"
#include "tilery/environment.h"
#include <random>

namespace tilery::test {

/// An array argument: element type by name ("f32", "i8", ...), filled at random.
struct Array {
  std::string type;
  size_t elements;
  double lo = -4, hi = 4;           // of the random contents
  std::vector<uint64_t> words = {}; // contents, filled by differential()
  unsigned bytesEach() const {
    return type == "i1" || type == "i8"                       ? 1
           : type == "f16" || type == "bf16" || type == "i16" ? 2
           : type == "f64" || type == "i64"                   ? 8
                                                              : 4;
  }
  char *data() { return reinterpret_cast<char *>(words.data()); }
};

inline double elementAt(const Array &array, const char *data, size_t i) {
  auto read = [&](auto zero) {
    std::memcpy(&zero, data + i * sizeof(zero), sizeof(zero));
    return zero;
  };
  if (array.type == "f32")
    return read(float());
  if (array.type == "f64")
    return read(double());
  if (array.type == "f16")
    return float(read(_Float16()));
  if (array.type == "bf16") {
    uint32_t bits = uint32_t(read(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  if (array.type == "i32")
    return read(int32_t());
  if (array.type == "i64")
    return double(read(int64_t()));
  if (array.type == "i16")
    return read(int16_t());
  return read(int8_t());
}

inline void fill(Array &array, std::mt19937 &engine) {
  array.words.assign((array.elements * array.bytesEach() + 7) / 8 + 8, 0x7b7b7b7b7b7b7b7b);
  std::uniform_real_distribution<double> distribution(array.lo, array.hi);
  for (size_t i = 0; i < array.elements; ++i) {
    double value = distribution(engine);
    auto write = [&](auto v) { std::memcpy(array.data() + i * sizeof(v), &v, sizeof(v)); };
    if (array.type == "f32")
      write(float(value));
    else if (array.type == "f64")
      write(value);
    else if (array.type == "f16")
      write(_Float16(value));
    else if (array.type == "bf16") {
      float narrow = float(value);
      uint32_t bits;
      std::memcpy(&bits, &narrow, 4);
      write(uint16_t(bits >> 16));
    } else if (array.type == "i32")
      write(int32_t(value));
    else if (array.type == "i64")
      write(int64_t(value));
    else if (array.type == "i16")
      write(int16_t(value));
    else
      write(int8_t(value));
  }
}

/// Runs `text` on `programs` programs both ways (scalars follow the arrays in the argument list) and compares every byte: rounded results
/// by the oracle's bounds, everything else bit for bit. Both alias versions, with and without the passes.
inline void differential(const std::string &text, int64_t programs, std::vector<Array> arrays, std::vector<int64_t> scalars = {},
                         unsigned seed = 1) {
  for (bool disjoint : {false, true})
    for (bool passes : {false, true}) {
      SCOPED_TRACE(testing::Message() << "disjoint " << disjoint << " passes " << passes);
      cpu::Options options;
      options.disjoint = disjoint;
      options.fpContract = false;
      options.wantPlan = environmentSwitch("TILERY_TEST_SHOW");
      Compiled compiled = compileText(text, options, passes);
      ASSERT_FALSE(compiled.kernels.empty()) << compiled.errors;
      if (options.wantPlan)
        llvm::errs() << compiled.code.plan;
      std::mt19937 engine(seed);
      for (Array &array : arrays)
        fill(array, engine);
      std::vector<Array> mine = arrays;
      auto slots = [&](std::vector<Array> &list) {
        std::vector<uint64_t> result;
        for (Array &array : list)
          result.push_back(slot(array.data()));
        for (int64_t scalar : scalars)
          result.push_back(uint64_t(scalar));
        return result;
      };
      auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
      oracle::Shadow shadow;
      oracle::Options oracleOptions;
      oracleOptions.shadow = &shadow;
      oracle::runKernel(*module->getOps<tile::KernelOp>().begin(), {uint32_t(programs), 1, 1}, slots(arrays), oracleOptions);
      int64_t grid[] = {programs, 1, 1};
      launch(*compiled.kernels[0], grid, slots(mine).data());
      ASSERT_FALSE(shadow.undetermined);
      for (size_t a = 0; a < arrays.size(); ++a) {
        unsigned width = arrays[a].bytesEach();
        for (size_t i = 0; i < arrays[a].words.size() * 8 / width; ++i) {
          const char *expected = arrays[a].data(), *actual = mine[a].data();
          if (!std::memcmp(expected + i * width, actual + i * width, width))
            continue;
          double got = elementAt(mine[a], actual, i), want = elementAt(arrays[a], expected, i);
          if (got != got && want != want)
            continue;
          auto bound = shadow.memory.find(slot(arrays[a].data()) + i * width);
          ASSERT_TRUE(bound != shadow.memory.end() && bound->second.contains(got))
              << "array " << a << " element " << i << ": got " << got << ", expected " << want;
        }
      }
    }
}

} // namespace tilery::test
