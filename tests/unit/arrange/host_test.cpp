// Arranged kernels as IR: what they take, which programs are theirs, what their host function checks.
#include "tilery/arrange_ir.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::arrange;

namespace {

Parameter parameter(const std::string &name, const Tensor &tensor, DType dtype = DType::F32) {
  size_t rank = tensor.source().shape.size();
  return {name, tensor, dtype, std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 0), 1, {}, {}};
}
Tensor source(const std::string &name, size_t rank) {
  Source source;
  source.name = name;
  return Tensor(source, std::vector<std::optional<Symbol>>(rank));
}
std::string textOf(const std::vector<Parameter> &parameters, const std::vector<size_t> &placed, bool masked = false,
                   bool sizes = false) {
  Builder b(Policy::Triton);
  Environment environment;
  auto located = beginKernel(b, "k", parameters, 0, masked, environment);
  b.endKernel();
  buildHost(b, "k", "k_host", parameters, 0, placed, sizes);
  return b.finish()->text();
}
bool says(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(ArrangedHost, OneGridNeedsNoCheck) {
  Tensor x = source("x", 1).tile({32});
  EXPECT_FALSE(says(textOf({parameter("x", x), parameter("alpha", source("alpha", 0))}, {0}), "tile.host_check"));
}

TEST(ArrangedHost, GridsOfOtherArgumentsAreChecked) {
  Tensor x = source("x", 1).tile({32}), y = source("y", 1).tile({32}), z = source("z", 2).tile({32, 32});
  std::string text = textOf({parameter("x", x), parameter("y", y), parameter("z", z)}, {0, 1, 2});
  EXPECT_TRUE(says(text, "arguments `x` and `y` are arranged for different grids: {0} and {1} programs in dimension 0"));
  EXPECT_TRUE(says(text, "arguments `x` and `z` are arranged for different grids: {0} and {1} programs\""));
  EXPECT_FALSE(says(textOf({parameter("x", x), parameter("y", y)}, {}), "different grids")); // not read tile by tile
}

TEST(ArrangedHost, WhatIsCutAlikeHasOneSize) {
  Tensor x = source("x", 1).tile({32}), y = source("y", 1).tile({32});
  std::vector<Parameter> both{parameter("x", x), parameter("y", y)};
  EXPECT_FALSE(says(textOf(both, {0, 1}), "are cut into the same tiles"));
  EXPECT_TRUE(says(textOf(both, {0, 1}, false, true), "arguments `x` and `y` are cut into the same tiles"));
}

TEST(ArrangedHost, NumbersInSizesAndSizesOfOneAreChecked) {
  Source fixed;
  fixed.name = "x";
  Tensor x = Tensor(fixed, {Symbol(64), std::nullopt}).squeeze({1}).tile({32});
  std::string text = textOf({parameter("x", x)}, {0});
  EXPECT_TRUE(says(text, "argument `x` has size {0} in dimension 0, its arrangement was made for {1}"));
  EXPECT_TRUE(says(text, "the arrangement of argument `x` leaves out dimension 1 (`squeeze`)"));
}

TEST(ArrangedKernel, ProgramsOfSmallerGridsMayNotExist) {
  Tensor x = source("x", 1).tile({32}), y = source("y", 1).tile({16}), scalar = source("s", 0);
  Builder b(Policy::Triton);
  Environment environment;
  std::vector<Parameter> parameters{parameter("x", x), parameter("y", y), parameter("s", scalar, DType::I32)};
  parameters.push_back(parameter("absent", x));
  parameters.back().dtype.reset();
  auto located = beginKernel(b, "k", parameters, 0, true, environment);
  ASSERT_EQ(located.size(), 4u);
  EXPECT_FALSE(located[0]->exists);
  EXPECT_TRUE(located[1]->exists);
  EXPECT_EQ(located[0]->program.at(0).name().text, "ninetoothed_program_0");
  EXPECT_EQ(located[1]->program.at(0).name().text, "ninetoothed_y_program_0");
  EXPECT_EQ(located[2]->value.dtype(), DType::I32);
  EXPECT_TRUE(located[2]->program.empty());
  EXPECT_FALSE(located[3]);
  EXPECT_TRUE(environment.contains("ninetoothed_y_size_0"));
}

TEST(ArrangedHost, ParametersOfJaggedTensors) {
  Source rows;
  rows.name = "x";
  rows.jagged = 1;
  Parameter x = parameter("x", Tensor(rows, {std::nullopt, std::nullopt, std::nullopt}));
  x.offsets = DType::I64;
  std::vector<std::string> names;
  for (const HostParam &each : hostParams({x}))
    names.push_back(each.name + " " + std::to_string(each.rank));
  EXPECT_EQ(names, (std::vector<std::string>{"x 2", "x_row_offsets 1", "x_max_seq_len -1"}));
}

} // namespace
