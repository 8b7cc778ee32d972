// Compiles the programs that saved_images_test.cpp runs. usage: save-images FOLDER
#include "tilery/language.h"
#include <fstream>

using namespace tilery;

static void save(const std::string &path, const Program &program) {
  std::ofstream file(path, std::ios::binary);
  file << serialize(program.compiled().image);
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

/// out = a * x + y.
static Program scaledSum() {
  std::vector<Param> params{scalar<float>("a"), in<float>("x"), in<float>("y"), out<float>("out"), scalar<int64_t>("n")};
  return Program("scaled_sum", params, [](const std::vector<Tile> &k) {
    Tile offsets = programId(0) * 256 + arange(0, 256), mask = offsets < k[4];
    store(k[3] + offsets, k[0] * load(k[1] + offsets, mask, 0.0f) + load(k[2] + offsets, mask, 0.0f), mask);
  });
}

/// c = a @ b for sizes that are multiples of 64: it packs its operands in panels of the runtime.
static Program product() {
  std::vector<Param> params{in<float>("a"), in<float>("b"), out<float>("c"), scalar<int64_t>("n"), scalar<int64_t>("depth")};
  return Program("product", params, [](const std::vector<Tile> &k) {
    Tile n = k[3], depth = k[4];
    Tile rows = (programId(0) * 64 + arange(0, 64)).expand(1), columns = (programId(1) * 64 + arange(0, 64)).expand(0);
    Tile sum = zeros({64, 64}, DType::F32);
    forRange(0, depth / 64, {sum}, [&](Tile step) {
      Tile inner = step * 64 + arange(0, 64);
      sum = dot(load(k[0] + (rows * depth + inner.expand(0))), load(k[1] + (inner.expand(1) * n + columns)), sum);
    });
    store(k[2] + (rows * n + columns), sum);
  });
}

int main(int count, char **arguments) {
  if (count != 2)
    return 2;
  std::string folder = arguments[1];
  save(folder + "/scaled_sum.image", scaledSum());
  save(folder + "/product.image", product());
}
