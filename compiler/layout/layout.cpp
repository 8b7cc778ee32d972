#include "compiler/layout/layout.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace tilery::layout {

static bool allZero(const Layout::Vector &v) {
  return llvm::all_of(v, [](int64_t x) { return x == 0; });
}
bool Layout::Digit::hasFlips() const { return !allZero(flips); }
bool Layout::Digit::isZero() const { return allZero(flips) && allZero(step); }

int64_t Layout::Input::extent() const {
  int64_t product = 1;
  for (const Digit &digit : digits)
    product *= digit.extent;
  return product;
}

Layout &Layout::add(Axis axis, Digit digit) {
  assert(digit.step.size() == outs.size() && digit.flips.size() == outs.size() && "one number an output");
  assert((digit.extent == 2 || !digit.hasFlips()) && "only a digit of extent 2 flips bits");
  auto found = llvm::find_if(ins, [&](const Input &input) { return input.axis == axis; });
  if (found == ins.end())
    found = ins.insert(ins.end(), Input{axis, {}});
  found->digits.push_back(std::move(digit));
  return *this;
}
Layout &Layout::add(Axis axis, int64_t extent, llvm::ArrayRef<int64_t> step) {
  return add(axis, Digit{extent, Vector(step), Vector(outs.size(), 0)});
}
Layout &Layout::flip(Axis axis, llvm::ArrayRef<int64_t> bits) {
  return add(axis, Digit{2, Vector(outs.size(), 0), Vector(bits)});
}

llvm::ArrayRef<Layout::Digit> Layout::digits(Axis axis) const {
  for (const Input &input : ins)
    if (input.axis == axis)
      return input.digits;
  return {};
}
int64_t Layout::extent(Axis axis) const {
  int64_t product = 1;
  for (const Digit &digit : digits(axis))
    product *= digit.extent;
  return product;
}
std::optional<unsigned> Layout::output(Axis axis) const {
  for (unsigned d = 0; d < outs.size(); ++d)
    if (outs[d].axis == axis)
      return d;
  return std::nullopt;
}

Layout::Vector Layout::at(llvm::ArrayRef<Place> place) const {
  Vector sum(outs.size(), 0), flipped(outs.size(), 0);
  for (auto [axis, number] : place) {
    int64_t rest = number;
    for (const Digit &digit : digits(axis)) {
      int64_t x = rest % digit.extent;
      rest /= digit.extent;
      for (unsigned d = 0; d < outs.size(); ++d) {
        sum[d] += x * digit.step[d];
        flipped[d] ^= x ? digit.flips[d] : 0;
      }
    }
    assert(rest == 0 && "a place beyond the layout");
  }
  for (unsigned d = 0; d < outs.size(); ++d)
    sum[d] += flipped[d];
  return sum;
}

Layout Layout::canonical() const {
  Vector once(outs.size(), 0), twice(outs.size(), 0); // bits that some digit flips, that several do
  for (const Input &input : ins)
    for (const Digit &digit : input.digits)
      for (unsigned d = 0; d < outs.size(); ++d) {
        twice[d] |= once[d] & digit.flips[d];
        once[d] |= digit.flips[d];
      }
  Layout result((llvm::ArrayRef<Output>(outs)));
  for (const Input &input : ins) {
    Input made{input.axis, {}};
    for (Digit digit : input.digits) {
      if (digit.extent == 1)
        continue;
      for (unsigned d = 0; d < outs.size(); ++d) {
        digit.step[d] += digit.flips[d] & ~twice[d];
        digit.flips[d] &= twice[d];
      }
      if (!made.digits.empty()) {
        Digit &last = made.digits.back();
        bool continues = !last.hasFlips() && !digit.hasFlips();
        for (unsigned d = 0; d < outs.size(); ++d)
          continues &= digit.step[d] == last.extent * last.step[d];
        if (continues) {
          last.extent *= digit.extent;
          continue;
        }
      }
      made.digits.push_back(std::move(digit));
    }
    if (!made.digits.empty())
      result.ins.push_back(std::move(made));
  }
  llvm::sort(result.ins, [](const Input &a, const Input &b) { return a.axis < b.axis; });
  return result;
}

Layout Layout::transposed() const {
  assert(outs.size() == 2);
  Layout result({{outs[0].axis, outs[1].extent}, {outs[1].axis, outs[0].extent}});
  for (const Input &input : ins)
    for (Digit digit : input.digits) {
      std::swap(digit.step[0], digit.step[1]), std::swap(digit.flips[0], digit.flips[1]);
      result.add(input.axis, digit);
    }
  return result;
}

bool Layout::operator==(const Layout &other) const {
  Layout a = canonical(), b = other.canonical();
  auto sameDigit = [](const Digit &x, const Digit &y) { return x.extent == y.extent && x.step == y.step && x.flips == y.flips; };
  return llvm::equal(a.outs, b.outs, [](const Output &x, const Output &y) { return x.axis == y.axis && x.extent == y.extent; }) &&
         llvm::equal(a.ins, b.ins, [&](const Input &x, const Input &y) {
           return x.axis == y.axis && llvm::equal(x.digits, y.digits, sameDigit);
         });
}

static std::string text(const Layout::Vector &v) {
  std::string result = "(";
  for (size_t d = 0; d < v.size(); ++d)
    result += (d ? "," : "") + std::to_string(v[d]);
  return result + ")";
}

std::string Layout::print() const {
  static const char *names[] = {"register", "lane", "warp", "block", "offset"};
  std::string result;
  for (const Input &input : ins) {
    unsigned axis = unsigned(input.axis), first = unsigned(Dim0);
    result +=
        (result.empty() ? "" : "; ") + (axis < first ? std::string(names[axis]) : "dim" + std::to_string(axis - first)) + ":";
    for (const Digit &digit : input.digits)
      result += " " + std::to_string(digit.extent) + "*" + text(digit.step) + (digit.hasFlips() ? "^" + text(digit.flips) : "");
  }
  result += " -> ";
  for (size_t d = 0; d < outs.size(); ++d)
    result += (d ? "x" : "") + std::to_string(outs[d].extent);
  return result;
}

} // namespace tilery::layout
