// The programs of the C++ tutorial: `./run docs` makes a page of this text.

// %% [markdown]
// # C++
//
// Five programs, from a sum of two vectors to a model that learns, with no Python in the process. A kernel is a lambda over tiles,
// compiled when the `Program` is made. Rules are those of [Tileon and Triton](tileon.py): types promote and shapes broadcast alike,
// and a grid of programs runs the lambda's code.
//
// The library is `tilery::compiler` of CMake's `find_package(tilery)`; how a program is built with it stands in
// [Embedding](../guide/embedding.md#compile-and-launch).

// %%
#include "tilery/language.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

using namespace tilery;

static std::mt19937 random_(0);
static double worst = 0; // of all errors

static std::vector<float> randoms(int64_t count, float scale = 1) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float &x : values)
    x = normal(random_);
  return values;
}

static void check(double value, double expected, double limit) {
  double error = std::fabs(value - expected) / limit;
  worst = std::isnan(error) ? INFINITY : std::max(worst, error);
}

static double seconds(const std::function<void()> &call) {
  double best = INFINITY;
  for (int round = 0; round < 20; ++round) {
    auto start = std::chrono::steady_clock::now();
    call();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// %% [markdown]
// ## Vector add
//
// Parameters have a name and a type: `in<float>` and `out<float>` are pointers, `scalar<int32_t>` is a number. The body gets them
// in that order. A pointer plus a tile of numbers is a tile of pointers, which `load` and `store` follow; `mask` says which
// elements there are.

// %%
static void vectorAdd() {
  Program add("add", {in<float>("x"), in<float>("y"), out<float>("z"), scalar<int32_t>("n")}, [](const std::vector<Tile> &k) {
    Tile offsets = programId(0) * 1024 + arange(0, 1024);
    Tile mask = offsets < k[3];
    store(k[2] + offsets, load(k[0] + offsets, mask) + load(k[1] + offsets, mask), mask);
  });
  const int64_t n = 100'003;
  std::vector<float> x = randoms(n), y = randoms(n), z(n, NAN);
  add.launch(cdiv(n, 1024), x.data(), y.data(), z.data(), int32_t(n));
  for (int64_t i = 0; i < n; ++i)
    check(z[i], x[i] + y[i], 1e-6);
  std::printf("add: %ld sums are right\n", long(n));
}

// %% [output] add

// %% [markdown]
// `launch` waits until all programs are done. It checks number and types of the arguments: an `int64_t` for the `int32_t` above is
// an error that names the parameter. Pointers must not overlap where one of them is written, unless they are equal (a launch in
// place) or the `Program` is told so.
//
// ## Softmax
//
// A program takes a row. Elements beyond its end read as minus infinity, so that they add nothing.

// %%
static void softmax() {
  Program kernel("softmax", {in<float>("x"), out<float>("y"), scalar<int32_t>("columns")}, [](const std::vector<Tile> &k) {
    Tile lanes = arange(0, 1024), offsets = programId(0) * k[2] + lanes, mask = lanes < k[2];
    Tile x = load(k[0] + offsets, mask, -std::numeric_limits<float>::infinity());
    Tile e = exp(x - reduceMax(x, 0));
    store(k[1] + offsets, e / sum(e, 0), mask);
  });
  const int64_t rows = 257, columns = 1000;
  std::vector<float> x = randoms(rows * columns), y(rows * columns, NAN);
  kernel.launch(rows, x.data(), y.data(), int32_t(columns));
  for (int64_t i = 0; i < rows; ++i) {
    double total = 0;
    for (int64_t j = 0; j < columns; ++j)
      total += std::exp(double(x[i * columns + j]));
    for (int64_t j = 0; j < columns; ++j)
      check(y[i * columns + j], std::exp(double(x[i * columns + j])) / total, 1e-7);
  }
  std::printf("softmax: %ld rows are right\n", long(rows));
}

// %% [output] softmax

// %% [markdown]
// ## Matrix product
//
// Tile sizes are C++ values when the lambda runs, so that a function makes the kernel for any. `expand(1)` makes a column of a tile
// and `expand(0)` a row. `forRange` is a loop at run time, and names the tiles that it changes. Strides are arguments: the same
// kernel multiplies transposed matrices.

// %%
struct Matrix {
  float *data;
  int64_t rows, columns, down, across; // sizes and strides
  Matrix transposed() const { return {data, columns, rows, across, down}; }
};

static Matrix matrix(std::vector<float> &values, int64_t rows, int64_t columns) {
  return {values.data(), rows, columns, columns, 1};
}

class Matmul {
public:
  explicit Matmul(int64_t m, int64_t n, int64_t k) : m(m), n(n), program("matmul", parameters(), body(m, n, k)) {}

  void operator()(const Matrix &a, const Matrix &b, const Matrix &c) const {
    program.launch({cdiv(c.rows, m), cdiv(c.columns, n), 1}, a.data, b.data, c.data, int32_t(c.rows), int32_t(c.columns),
                   int32_t(a.columns), int32_t(a.down), int32_t(a.across), int32_t(b.down), int32_t(b.across), int32_t(c.down));
  }

private:
  static std::vector<Param> parameters() {
    std::vector<Param> all{in<float>("a"), in<float>("b"), out<float>("c")};
    for (const char *name : {"M", "N", "K", "a_down", "a_across", "b_down", "b_across", "c_down"})
      all.push_back(scalar<int32_t>(name));
    return all;
  }

  static Program::Body body(int64_t m, int64_t n, int64_t k) {
    return [=](const std::vector<Tile> &p) {
      Tile rows = (programId(0) * m + arange(0, m)).expand(1), columns = (programId(1) * n + arange(0, n)).expand(0);
      Tile depth = arange(0, k), acc = zeros({m, n}, DType::F32);
      forRange(0, cdiv(p[5], k), {acc}, [&](Tile step) {
        Tile inner = step * k + depth, across = inner.expand(0), down = inner.expand(1);
        Tile a = load(p[0] + (rows * p[6] + across * p[7]), (rows < p[3]) & (across < p[5]), 0.0f);
        Tile b = load(p[1] + (down * p[8] + columns * p[9]), (down < p[5]) & (columns < p[4]), 0.0f);
        acc = dot(a, b, acc);
      });
      store(p[2] + (rows * p[10] + columns), acc, (rows < p[3]) & (columns < p[4]));
    };
  }

  int64_t m, n;
  Program program;
};

static void matmul() {
  Matmul multiply(128, 128, 64);
  std::vector<float> a = randoms(300 * 500), b = randoms(200 * 500), c(300 * 200, NAN);
  multiply(matrix(a, 300, 500), matrix(b, 200, 500).transposed(), matrix(c, 300, 200));
  for (int64_t i = 0; i < 300; i += 7)
    for (int64_t j = 0; j < 200; ++j) {
      double expected = 0;
      for (int64_t k = 0; k < 500; ++k)
        expected += double(a[i * 500 + k]) * b[j * 500 + k];
      check(c[i * 200 + j], expected, 1e-3);
    }
  for (int64_t n : {64, 128, 256, 512, 1024}) {
    std::vector<float> x = randoms(n * n), y = randoms(n * n), z(n * n);
    double time = seconds([&] { multiply(matrix(x, n, n), matrix(y, n, n), matrix(z, n, n)); });
    std::printf("matmul-speed %ld %.1f\n", long(n), 2e-9 * n * n * n / time);
  }
}

// %% [plot] matmul-speed, rows and columns, GFLOP/s

// %% [markdown]
// ## Attention
//
// A program holds a block of queries of one head and walks over blocks of keys. The matrix of scores is never stored as a whole:
// for each row the largest score so far and the sum of exponentials are kept, and both and the result are scaled down when a larger
// score comes. The keys are loaded as columns, so that no tile has to be transposed.

// %%
static void attention() {
  const int64_t block = 64, d = 64, heads = 2, rows = 200;
  std::vector<Param> params{in<float>("q"),    in<float>("k"),         in<float>("v"),
                            out<float>("out"), scalar<float>("scale"), scalar<int32_t>("N")};
  Program kernel("attention", params, [=](const std::vector<Tile> &p) {
    Tile N = p[5], base = programId(1) * N * d, lanes = arange(0, block), width = arange(0, d);
    Tile queries = (programId(0) * block + lanes).expand(1), place = base + (queries * d + width.expand(0));
    Tile q = load(p[0] + place, queries < N, 0.0f);
    Tile largest = full({block}, -INFINITY, DType::F32), total = zeros({block}, DType::F32), acc = zeros({block, d}, DType::F32);
    forRange(0, cdiv(N, block), {largest, total, acc}, [&](Tile step) {
      Tile keys = step * block + lanes, across = keys.expand(0), down = keys.expand(1);
      Tile k = load(p[1] + (base + (width.expand(1) + across * d)), across < N, 0.0f);
      Tile v = load(p[2] + (base + (down * d + width.expand(0))), down < N, 0.0f);
      Tile scores = select(across < N, dot(q, k, zeros({block, block}, DType::F32)) * p[4], -1.0e6f);
      Tile top = max(largest, reduceMax(scores, 1)), weights = exp(scores - top.expand(1)), fade = exp(largest - top);
      total = total * fade + sum(weights, 1);
      acc = dot(weights, v, acc * fade.expand(1));
      largest = top;
    });
    store(p[3] + place, acc / total.expand(1), queries < N);
  });
  std::vector<float> q = randoms(heads * rows * d), k = randoms(heads * rows * d), v = randoms(heads * rows * d);
  std::vector<float> result(heads * rows * d, NAN);
  kernel.launch({cdiv(rows, block), heads, 1}, q.data(), k.data(), v.data(), result.data(), 0.125f, int32_t(rows));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < rows; i += 9) {
      std::vector<double> weights(rows), expected(d);
      double total = 0;
      for (int64_t j = 0; j < rows; ++j) {
        double score = 0;
        for (int64_t c = 0; c < d; ++c)
          score += double(q[(h * rows + i) * d + c]) * k[(h * rows + j) * d + c];
        total += weights[j] = std::exp(score / 8);
      }
      for (int64_t j = 0; j < rows; ++j)
        for (int64_t c = 0; c < d; ++c)
          expected[c] += weights[j] / total * v[(h * rows + j) * d + c];
      for (int64_t c = 0; c < d; ++c)
        check(result[(h * rows + i) * d + c], expected[c], 1e-5);
    }
  std::printf("attention: %ld heads of %ld rows are right\n", long(heads), long(rows));
}

// %% [output] attention

// %% [markdown]
// ## A model that learns
//
// Two layers learn sin(3x) from noisy samples. There is no framework: products forward and backward are the kernel above; the
// function between the layers, its gradient, and the step of the optimizer are elementwise kernels. Adam's step updates three
// arrays in place: each element is read and written by the same program, and no argument overlaps another.

// %%
static Program elementwise(const std::string &name, const std::vector<Param> &params, int64_t count,
                           const std::function<void(const std::vector<Tile> &, const Tile &, const Tile &)> &body) {
  return Program(name, params, [=](const std::vector<Tile> &k) {
    Tile offsets = programId(0) * 256 + arange(0, 256);
    body(k, offsets, offsets < int32_t(count));
  });
}

static void train() {
  const int64_t samples = 256, hidden = 64, weights = 3 * hidden;
  Matmul multiply(64, 64, 32);
  Program forward = elementwise("tanh", {in<float>("x"), out<float>("y")}, samples * hidden, [](auto &k, auto &i, auto &mask) {
    store(k[1] + i, math(MathOp::Tanh, load(k[0] + i, mask)), mask);
  });
  Program backward = elementwise("tanh_gradient", {in<float>("y"), in<float>("grad"), out<float>("dx")}, samples * hidden,
                                 [](auto &k, auto &i, auto &mask) {
                                   Tile y = load(k[0] + i, mask);
                                   store(k[2] + i, load(k[1] + i, mask) * (1.0f - y * y), mask);
                                 });
  Program error =
      elementwise("error", {in<float>("y"), in<float>("wanted"), out<float>("grad")}, samples, [](auto &k, auto &i, auto &mask) {
        store(k[2] + i, (load(k[0] + i, mask) - load(k[1] + i, mask)) * (2.0f / 256), mask);
      });
  std::vector<Param> state{out<float>("w"), in<float>("grad"), out<float>("mean"), out<float>("square"), scalar<float>("rate")};
  Program adam = elementwise("adam", state, weights, [](auto &k, auto &i, auto &mask) {
    Tile grad = load(k[1] + i, mask);
    Tile mean = load(k[2] + i, mask) * 0.9f + grad * 0.1f, square = load(k[3] + i, mask) * 0.999f + grad * grad * 0.001f;
    store(k[2] + i, mean, mask);
    store(k[3] + i, square, mask);
    store(k[0] + i, load(k[0] + i, mask) - k[4] * mean / (sqrt(square) + 1e-8f), mask);
  });

  std::vector<float> x(samples * 2, 1), wanted = randoms(samples, 0.1f);
  for (int64_t i = 0; i < samples; ++i) {
    x[i * 2] = i * 4.0f / samples - 2;
    wanted[i] += std::sin(3 * x[i * 2]);
  }
  // The first layer has two weights for each hidden number, the second one; all lie in one array.
  std::vector<float> w = randoms(weights, 2), grad(weights), mean(weights), square(weights);
  for (int64_t i = 2 * hidden; i < weights; ++i)
    w[i] *= 0.05f;
  std::vector<float> inner(samples * hidden), act(samples * hidden), y(samples), dy(samples), dact(inner), dinner(inner);
  Matrix X = matrix(x, samples, 2), W1{w.data(), 2, hidden, hidden, 1}, W2{w.data() + 2 * hidden, hidden, 1, 1, 1};
  Matrix G1{grad.data(), 2, hidden, hidden, 1}, G2{grad.data() + 2 * hidden, hidden, 1, 1, 1};
  Matrix inputs = matrix(inner, samples, hidden), A = matrix(act, samples, hidden), Y = matrix(y, samples, 1);
  Matrix DY = matrix(dy, samples, 1), DA = matrix(dact, samples, hidden), DI = matrix(dinner, samples, hidden);
  const int64_t blocks = cdiv(samples * hidden, 256);
  double loss = 0;
  for (int step = 0; step <= 300; ++step) {
    multiply(X, W1, inputs);
    forward.launch(blocks, inner.data(), act.data());
    multiply(A, W2, Y);
    error.launch(cdiv(samples, 256), y.data(), wanted.data(), dy.data());
    multiply(A.transposed(), DY, G2);
    multiply(DY, W2.transposed(), DA);
    backward.launch(blocks, act.data(), dact.data(), dinner.data());
    multiply(X.transposed(), DI, G1);
    float rate = 0.02f * float(std::sqrt(1 - std::pow(0.999, step + 1)) / (1 - std::pow(0.9, step + 1)));
    adam.launch(cdiv(weights, 256), w.data(), grad.data(), mean.data(), square.data(), rate);
    loss = 0;
    for (int64_t i = 0; i < samples; ++i)
      loss += (y[i] - wanted[i]) * (y[i] - wanted[i]) / samples;
    if (step % 10 == 0)
      std::printf("train-loss %d %.4f\n", step, loss);
  }
  check(loss, 0, 0.03); // the noise alone: 0.01
}

// %% [plot] train-loss, step, mean squared error

// %%
int main() {
  vectorAdd();
  softmax();
  matmul();
  attention();
  train();
  std::printf("C++ tutorial: largest error %.2f of what is allowed\n", worst);
  return worst < 1 ? 0 : 1;
}

// %% [output] C++ tutorial
