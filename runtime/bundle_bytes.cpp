// Bundles as bytes: the version, a checksum of what follows it, the entries. Machine code cannot be checked otherwise.
#include "runtime/bytes.h"
#include "runtime/hash.h"
#include "tilery/bundle.h"

namespace tilery {
namespace {
constexpr uint64_t bundleVersion = 0x0002'4c44'4e42'4c54; // "TLBNDL", version 2

DType readType(ByteReader &in) {
  auto dtype = in.number<DType>();
  if (dtype > DType::F64)
    ByteReader::fail();
  return dtype;
}

BundleCondition readCondition(ByteReader &in, const std::vector<BundleParameter> &parameters) {
  BundleCondition condition{};
  condition.kind = in.number<BundleCondition::Kind>();
  condition.argument = in.number<uint32_t>();
  condition.dim = in.number<uint32_t>();
  condition.value = in.number<int64_t>();
  if (condition.kind > BundleCondition::NumberDivisible)
    ByteReader::fail();
  const bool divides = condition.kind == BundleCondition::AddressDivisible ||
                       condition.kind == BundleCondition::ExtentDivisible || condition.kind == BundleCondition::StrideDivisible ||
                       condition.kind == BundleCondition::NumberDivisible;
  if (divides && condition.value < 1)
    ByteReader::fail();
  if (condition.kind < BundleCondition::AddressDivisible || condition.kind == BundleCondition::Disjoint)
    return condition;
  if (condition.argument >= parameters.size())
    ByteReader::fail();
  const BundleParameter &parameter = parameters[condition.argument];
  const bool ofDimension = condition.kind >= BundleCondition::ExtentIs && condition.kind <= BundleCondition::StrideDivisible;
  if ((condition.kind == BundleCondition::NumberIs) != parameter.onlyChooses ||
      (ofDimension && int64_t(condition.dim) >= parameter.rank) ||
      (condition.kind == BundleCondition::AddressDivisible && parameter.rank < 0) ||
      (condition.kind == BundleCondition::NumberDivisible && (parameter.rank >= 0 || isFloat(parameter.dtype))))
    ByteReader::fail();
  return condition;
}
} // namespace

std::string serialize(const std::vector<BundleEntry> &entries) {
  ByteWriter out;
  out.list(entries, [&](const BundleEntry &entry) {
    out.text(entry.name);
    out.list(entry.parameters, [&](const BundleParameter &parameter) {
      out.text(parameter.name);
      out.number(parameter.dtype);
      out.number(parameter.rank);
      out.number<uint8_t>(parameter.onlyChooses);
      out.number(parameter.memory);
    });
    out.number<uint8_t>(entry.takesGrid);
    out.list(entry.variants, [&](const BundleVariant &variant) {
      out.list(variant.conditions, [&](const BundleCondition &condition) {
        out.number(condition.kind);
        out.number(condition.argument);
        out.number(condition.dim);
        out.number(condition.value);
      });
      out.text(variant.image);
      out.text(variant.withoutBoxes);
    });
  });
  ByteWriter whole;
  whole.number(bundleVersion);
  whole.number(checksum(out.bytes));
  return whole.bytes + out.bytes;
}

std::vector<BundleEntry> parseBundle(std::string_view bytes) {
  ByteReader in(bytes);
  if (bytes.size() < 8 || in.number<uint64_t>() != bundleVersion)
    throw Error({Diagnostic::Kind::Runtime,
                 "these bytes are no bundle of compiled programs of this version",
                 "compile it again with the version that runs it",
                 {}});
  if (auto sum = in.number<uint64_t>(); sum != checksum(bytes.substr(16)))
    ByteReader::fail();
  std::vector<BundleEntry> entries;
  in.list(entries, [&](BundleEntry &entry) {
    entry.name = in.text();
    in.list(entry.parameters, [&](BundleParameter &parameter) {
      parameter.name = in.text();
      parameter.dtype = readType(in);
      parameter.rank = in.number<int32_t>();
      parameter.onlyChooses = in.number<uint8_t>();
      parameter.memory = readType(in);
      if (parameter.rank < -1 || parameter.rank > 64 || (parameter.onlyChooses && parameter.rank >= 0))
        ByteReader::fail();
    });
    entry.takesGrid = in.number<uint8_t>();
    in.list(entry.variants, [&](BundleVariant &variant) {
      in.list(variant.conditions, [&](BundleCondition &condition) { condition = readCondition(in, entry.parameters); });
      variant.image = in.text();
      variant.withoutBoxes = in.text();
    });
  });
  if (!in.atEnd())
    ByteReader::fail();
  return entries;
}
} // namespace tilery
