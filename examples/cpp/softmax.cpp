// Row softmax written in C++, with no Python in the process.
#include "tilery/language.h"
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

using namespace tilery;

static Program makeSoftmax(int64_t block) {
  std::vector<Param> params{in<float>("x"), out<float>("y"), scalar<int32_t>("columns")};
  return Program("softmax", params, [=](const std::vector<Tile> &k) {
    Tile columns = k[2], row = programId(0), lanes = arange(0, block);
    Tile offsets = row * columns + lanes, mask = lanes < columns;
    Tile x = load(k[0] + offsets, mask, -std::numeric_limits<float>::infinity());
    Tile e = exp(x - reduceMax(x, 0));
    store(k[1] + offsets, e / sum(e, 0), mask);
  });
}

int main() {
  const int64_t rows = 257, columns = 1000;
  Program softmax = makeSoftmax(1024);
  std::mt19937 random(0);
  std::normal_distribution<float> normal;
  std::vector<float> x(rows * columns), y(rows * columns, NAN);
  for (float &value : x)
    value = normal(random);
  softmax.launch(rows, x.data(), y.data(), int32_t(columns));
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    double largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < columns; ++j)
      largest = std::max<double>(largest, x[i * columns + j]);
    for (int64_t j = 0; j < columns; ++j)
      total += std::exp(x[i * columns + j] - largest);
    for (int64_t j = 0; j < columns; ++j) {
      double error = std::fabs(y[i * columns + j] - std::exp(x[i * columns + j] - largest) / total);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  std::printf("C++ softmax %ldx%ld: largest error %.2e\n", long(rows), long(columns), worst);
  return worst < 1e-7 ? 0 : 1;
}
