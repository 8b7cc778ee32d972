// Schedules as texts and as attributes.
#include "compiler/block/price/schedule.h"
#include "tilery/diagnostic.h"
#include <charconv>
#include <sstream>

using namespace mlir;

namespace tilery::block {
namespace {
struct Field {
  const char *name;
  unsigned Schedule::*value;
};
constexpr Field fields[] = {{"consumers", &Schedule::consumers},
                            {"k", &Schedule::k},
                            {"stages", &Schedule::stages},
                            {"group", &Schedule::group},
                            {"stage_output", &Schedule::stageOutput},
                            {"computed_slots", &Schedule::computedSlots},
                            {"delay", &Schedule::delay},
                            {"spread", &Schedule::spread},
                            {"hold_operands", &Schedule::holdOperands},
                            {"split_columns", &Schedule::splitColumns},
                            {"early", &Schedule::early},
                            {"ahead", &Schedule::ahead},
                            {"boxed", &Schedule::boxed},
                            {"overlap", &Schedule::overlap},
                            {"branch", &Schedule::branch},
                            {"longest", &Schedule::longest},
                            {"load_registers", &Schedule::loadRegisters},
                            {"math_registers", &Schedule::mathRegisters},
                            {"cluster", &Schedule::cluster},
                            {"instances", &Schedule::instances},
                            {"resident", &Schedule::resident},
                            {"fetchers", &Schedule::fetchers},
                            {"joined", &Schedule::joined},
                            {"partial", &Schedule::partial},
                            {"partial_columns", &Schedule::partialColumns},
                            {"general", &Schedule::general}};
} // namespace

void refuseSchedule(std::string message, std::string hint) {
  throw Error({tilery::Diagnostic::Kind::Value, std::move(message), std::move(hint), {}});
}

std::string Schedule::print() const {
  std::ostringstream out;
  for (const Field &field : fields)
    if (this->*field.value || field.value == &Schedule::stageOutput)
      out << (&field == fields ? "" : " ") << field.name << "=" << this->*field.value;
  return out.str();
}

void Schedule::override(const std::string &text) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    auto field = std::find_if(std::begin(fields), std::end(fields), [&](const Field &field) { return field.name == name; });
    if (field == std::end(fields)) {
      std::string names;
      for (const Field &each : fields)
        names += (names.empty() ? "" : ", ") + std::string(each.name);
      refuseSchedule("a schedule has no field '" + name + "'", "fields: " + names);
    }
    std::string number = equals == std::string::npos ? "1" : word.substr(equals + 1);
    auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), this->*field->value);
    if (problem != std::errc() || end != number.data() + number.size())
      refuseSchedule("a schedule's field '" + name + "' is '" + number + "', which is no number",
                     "TILERY_SCHEDULE takes " + name + "=2, say");
  }
}

DictionaryAttr Schedule::attribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  for (const Field &field : fields)
    entries.push_back(builder.getNamedAttr(field.name, builder.getI64IntegerAttr(this->*field.value)));
  return builder.getDictionaryAttr(entries);
}

std::optional<Schedule> Schedule::of(tile::KernelOp kernel) {
  auto entries = kernel->getAttrOfType<DictionaryAttr>("block.schedule");
  if (!entries)
    return std::nullopt;
  Schedule schedule;
  for (const Field &field : fields)
    if (auto value = entries.getAs<IntegerAttr>(field.name))
      schedule.*field.value = unsigned(value.getInt());
  return schedule;
}

} // namespace tilery::block
