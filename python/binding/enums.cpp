#include "enums.h"
#include <utility>

namespace tilery::python {

template <typename T, size_t N>
static T find(const std::pair<const char *, T> (&table)[N], const std::string &name, const char *what) {
  std::string known;
  for (auto &[word, value] : table) {
    if (name == word)
      return value;
    known += std::string(known.empty() ? "" : ", ") + word;
  }
  throw Error(Diagnostic{Diagnostic::Kind::Value, "unknown " + std::string(what) + " '" + name + "'", "known: " + known, {}});
}

Policy promotionPolicy(const std::string &name) {
  static constexpr std::pair<const char *, Policy> table[] = {{"triton", Policy::Triton}, {"tir", Policy::Tir}};
  return find(table, name, "promotion policy");
}
BinaryOp binaryOp(const std::string &name) {
  using enum BinaryOp;
  static constexpr std::pair<const char *, BinaryOp> table[] = {{"+", Add},
                                                                {"-", Sub},
                                                                {"*", Mul},
                                                                {"/", TrueDiv},
                                                                {"div_rn", RoundDiv},
                                                                {"//", FloorDiv},
                                                                {"%", Mod},
                                                                {"truncdiv", TruncDiv},
                                                                {"truncmod", TruncMod},
                                                                {"**", Pow},
                                                                {"&", And},
                                                                {"|", Or},
                                                                {"^", Xor},
                                                                {"<<", Shl},
                                                                {">>", Shr},
                                                                {"==", Eq},
                                                                {"!=", Ne},
                                                                {"<", Lt},
                                                                {"<=", Le},
                                                                {">", Gt},
                                                                {">=", Ge},
                                                                {"and", LogicalAnd},
                                                                {"or", LogicalOr},
                                                                {"min", Min},
                                                                {"max", Max},
                                                                {"min_nan", MinNan},
                                                                {"max_nan", MaxNan},
                                                                {"mulhi", MulHigh}};
  return find(table, name, "operator");
}
UnaryOp unaryOp(const std::string &name) {
  using enum UnaryOp;
  static constexpr std::pair<const char *, UnaryOp> table[] = {
      {"-", Neg}, {"~", Invert}, {"not", LogicalNot}, {"abs", Abs}, {"+", Pos}};
  return find(table, name, "operator");
}
MathOp mathOp(const std::string &name) {
  using enum MathOp;
  static constexpr std::pair<const char *, MathOp> table[] = {{"exp", Exp},
                                                              {"exp2", Exp2},
                                                              {"exp10", Exp10},
                                                              {"log", Log},
                                                              {"log2", Log2},
                                                              {"log10", Log10},
                                                              {"log1p", Log1p},
                                                              {"expm1", Expm1},
                                                              {"sin", Sin},
                                                              {"cos", Cos},
                                                              {"tan", Tan},
                                                              {"asin", Asin},
                                                              {"acos", Acos},
                                                              {"atan", Atan},
                                                              {"sinh", Sinh},
                                                              {"cosh", Cosh},
                                                              {"tanh", Tanh},
                                                              {"asinh", Asinh},
                                                              {"acosh", Acosh},
                                                              {"atanh", Atanh},
                                                              {"sqrt", Sqrt},
                                                              {"rsqrt", Rsqrt},
                                                              {"cbrt", Cbrt},
                                                              {"erf", Erf},
                                                              {"erfc", Erfc},
                                                              {"floor", Floor},
                                                              {"ceil", Ceil},
                                                              {"round", Round},
                                                              {"round_even", RoundEven},
                                                              {"trunc", Trunc},
                                                              {"isnan", IsNan},
                                                              {"isinf", IsInf},
                                                              {"isfinite", IsFinite},
                                                              {"fma", Fma},
                                                              {"atan2", Atan2},
                                                              {"copysign", CopySign},
                                                              {"fmod", Fmod}};
  return find(table, name, "function");
}
ReduceKind reduceKind(const std::string &name) {
  using enum ReduceKind;
  static constexpr std::pair<const char *, ReduceKind> table[] = {{"sum", Sum}, {"prod", Product},   {"max", Max},
                                                                  {"min", Min}, {"max_nan", MaxNan}, {"min_nan", MinNan},
                                                                  {"and", And}, {"or", Or},          {"xor", Xor}};
  return find(table, name, "reduction");
}
RmwKind rmwKind(const std::string &name) {
  using enum RmwKind;
  static constexpr std::pair<const char *, RmwKind> table[] = {{"add", Add}, {"max", Max}, {"min", Min},          {"and", And},
                                                               {"or", Or},   {"xor", Xor}, {"exchange", Exchange}};
  return find(table, name, "atomic");
}
MemoryOrder memoryOrder(const std::string &name) {
  using enum MemoryOrder;
  static constexpr std::pair<const char *, MemoryOrder> table[] = {
      {"relaxed", Relaxed}, {"acquire", Acquire}, {"release", Release}, {"acq_rel", AcqRel}, {"seq_cst", SeqCst}};
  return find(table, name, "memory order");
}
SyncScope syncScope(const std::string &name) {
  using enum SyncScope;
  static constexpr std::pair<const char *, SyncScope> table[] = {{"cta", Cta}, {"gpu", Gpu}, {"sys", Sys}};
  return find(table, name, "scope");
}
ShuffleMode shuffleMode(const std::string &name) {
  using enum ShuffleMode;
  static constexpr std::pair<const char *, ShuffleMode> table[] = {{"idx", Idx}, {"up", Up}, {"down", Down}, {"xor", Xor}};
  return find(table, name, "shuffle");
}
VoteMode voteMode(const std::string &name) {
  using enum VoteMode;
  static constexpr std::pair<const char *, VoteMode> table[] = {{"any", Any}, {"all", All}, {"ballot", Ballot}, {"count", Count}};
  return find(table, name, "vote");
}
Precision precision(const std::string &name) {
  using enum Precision;
  static constexpr std::pair<const char *, Precision> table[] = {
      {"ieee", Ieee}, {"tf32", Tf32}, {"tf32x3", Tf32x3}, {"bf16x3", Bf16x3}, {"bf16x6", Bf16x6}};
  return find(table, name, "input precision");
}
static constexpr std::pair<const char *, Space> spaces[] = {
    {"shared", Space::Shared}, {"fragment", Space::Fragment}, {"local", Space::Local}, {"global", Space::Global}};
Space space(const std::string &name) { return find(spaces, name, "memory space"); }
const char *spaceName(Space space) { return spaces[static_cast<int>(space)].first; }

} // namespace tilery::python
