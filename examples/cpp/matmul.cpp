// Matrix multiplication written in C++: c = a @ b for any sizes and strides, with no Python in the process.
#include "tilery/language.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

using namespace tilery;

static Program makeMatmul(int64_t blockM, int64_t blockN, int64_t blockK) {
  std::vector<Param> params{in<float>("a"),       in<float>("b"),       out<float>("c"),
                            scalar<int32_t>("M"), scalar<int32_t>("N"), scalar<int32_t>("K")};
  return Program("matmul", params, [=](const std::vector<Tile> &k) {
    Tile a = k[0], b = k[1], c = k[2], M = k[3], N = k[4], K = k[5];
    Tile rows = programId(0) * blockM + arange(0, blockM), columns = programId(1) * blockN + arange(0, blockN),
         depth = arange(0, blockK);
    Tile aPointers = a + (rows.expand(1) * K + depth.expand(0));
    Tile bPointers = b + (depth.expand(1) * N + columns.expand(0));
    Tile acc = zeros({blockM, blockN}, DType::F32);
    forRange(0, cdiv(K, blockK), {acc, aPointers, bPointers}, [&](Tile step) {
      Tile left = K - step * blockK;
      Tile x = load(aPointers, (rows.expand(1) < M) & (depth.expand(0) < left), 0.0f);
      Tile y = load(bPointers, (depth.expand(1) < left) & (columns.expand(0) < N), 0.0f);
      acc = dot(x, y, acc);
      aPointers = aPointers + blockK;
      bPointers = bPointers + N * blockK;
    });
    store(c + (rows.expand(1) * N + columns.expand(0)), acc, (rows.expand(1) < M) & (columns.expand(0) < N));
  });
}

int main() {
  const int64_t M = 513, N = 700, K = 301, blockM = 128, blockN = 128, blockK = 64;
  Program matmul = makeMatmul(blockM, blockN, blockK);
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  std::vector<float> a(M * K), b(K * N), c(M * N, NAN);
  for (float &x : a)
    x = normal(random);
  for (float &x : b)
    x = normal(random);
  auto run = [&] {
    matmul.launch({cdiv(M, blockM), cdiv(N, blockN), 1}, a.data(), b.data(), c.data(), int32_t(M), int32_t(N), int32_t(K));
  };
  run();
  double worst = 0;
  for (int64_t i = 0; i < M; i += 7)
    for (int64_t j = 0; j < N; j += 5) {
      double expected = 0;
      for (int64_t k = 0; k < K; ++k)
        expected += double(a[i * K + k]) * b[k * N + j];
      double error = std::fabs(c[i * N + j] - expected);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  auto start = std::chrono::steady_clock::now();
  const int rounds = 20;
  for (int i = 0; i < rounds; ++i)
    run();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / rounds;
  std::printf("C++ matmul %ldx%ldx%ld: largest error %.2e, %.1f GFLOP/s\n", long(M), long(N), long(K), worst,
              2e-9 * M * N * K / seconds);
  return worst < 1e-4 ? 0 : 1;
}
