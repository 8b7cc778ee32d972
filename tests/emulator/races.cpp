#include "races.h"
#include <algorithm>

namespace tilery::emulator {

const char *nameOf(Act act) {
  switch (act) {
  case Act::Loads:
  case Act::Looks:
    return "reads";
  case Act::Stores:
    return "writes";
  case Act::Updates:
    return "updates";
  case Act::Copies:
    return "copies to";
  case Act::Brings:
    return "copies a box to";
  case Act::TakesAway:
    return "stores a box from";
  case Act::Multiplies:
    return "multiplies";
  }
  return "";
}

void Viewers::add(const Clock &clock) {
  auto knowsAsMuch = [&](const Clock *other) { return other->known == clock.known; };
  if (std::count_if(clocks.begin(), clocks.end(), knowsAsMuch) < 2)
    clocks.push_back(&clock);
}
bool Viewers::see(Moment moment) const {
  return std::all_of(clocks.begin(), clocks.end(), [&](const Clock *clock) { return clock->sees(moment); });
}
bool Viewers::show(Moment moment) const {
  return std::all_of(clocks.begin(), clocks.end(), [&](const Clock *clock) { return clock->shows(moment); });
}

std::optional<Conflict> Shadow::Cell::touch(const Access &access, const Viewers &viewers) {
  auto conflictWith = [&](const Access &other) -> std::optional<Conflict> {
    if (!other.when.time || (access.isAtomic() && other.isAtomic()) || (!access.writes() && !other.writes()))
      return std::nullopt;
    bool isBoth = access.act == Act::Brings && other.act == Act::Brings && access.when.time == other.when.time;
    if (other.when.agent == access.when.agent)
      return isBoth ? std::optional(Conflict{other, false}) : std::nullopt;
    if (!viewers.see(other.when))
      return Conflict{other, false};
    if (access.isAsync() && !other.isAsync() && !viewers.show(other.when)) // reads, too, may still be on their way
      return Conflict{other, true};
    return std::nullopt;
  };
  std::optional<Conflict> conflict = conflictWith(written);
  if (conflict && !access.writes() && alike &&
      std::any_of(alike->begin(), alike->end(), [&](const Access &one) { return !conflictWith(one); }))
    conflict.reset();
  if (access.writes() && alike)
    for (size_t i = 0; !conflict && i < alike->size(); ++i)
      conflict = conflictWith((*alike)[i]);
  if (!conflict && (access.writes() || isUpdated)) {
    conflict = conflictWith(since);
    for (size_t i = 0; manySince && !conflict && i < manySince->size(); ++i)
      conflict = conflictWith((*manySince)[i]);
  }
  if (conflict && !(access.isSame && !conflict->unshown && !conflict->before.isAsync()))
    return conflict;
  if (conflict) { // it does not matter which of them comes first
    if (!alike)
      alike = std::make_unique<std::vector<Access>>();
    alike->push_back(access);
    return std::nullopt;
  }
  isUpdated |= access.act == Act::Updates;
  if (!access.writes() || access.isAtomic())
    note(access, viewers);
  else
    *this = Cell(access);
  return std::nullopt;
}

// Of those that are ordered the last one is enough.
void Shadow::Cell::note(const Access &access, const Viewers &viewers) {
  const uint32_t self = access.when.agent, before = since.when.agent;
  if (!manySince && (!since.when.time || before == self || viewers.see(since.when))) {
    since = access;
    return;
  }
  if (!manySince) {
    manySince = std::make_unique<std::vector<Access>>(std::max(self, before) + 1);
    (*manySince)[before] = since;
  }
  if (manySince->size() <= self)
    manySince->resize(self + 1);
  (*manySince)[self] = access;
}

void Shadow::Cell::copyTo(Cell &other) const {
  other.written = written;
  other.since = since;
  other.isUpdated = isUpdated;
  other.manySince = manySince ? std::make_unique<std::vector<Access>>(*manySince) : nullptr;
  other.alike = alike ? std::make_unique<std::vector<Access>>(*alike) : nullptr;
}

void Shadow::Piece::split(uint32_t to) {
  auto finer = std::make_unique<Cell[]>(pieceBytes / to);
  for (uint32_t i = 0; i < pieceBytes / to; ++i)
    (parts ? parts[i * to / unit] : whole).copyTo(finer[i]);
  parts = std::move(finer);
  unit = to;
}

std::optional<Conflict> Shadow::touch(uint64_t place, uint32_t bytes, const Access &access, const Viewers &viewers) {
  for (uint64_t at = place, end = place + bytes; at < end;) {
    uint64_t number = at / (pieceBytes * pagePieces);
    if (!last || number != lastNumber) {
      std::unique_ptr<Page> &page = pages[number];
      if (!page)
        page = std::make_unique<Page>();
      last = page.get();
      lastNumber = number;
    }
    Piece &piece = (*last)[at / pieceBytes % pagePieces];
    uint32_t from = at % pieceBytes, to = uint32_t(std::min<uint64_t>(pieceBytes, from + (end - at)));
    uint32_t both = from | to | pieceBytes, whole = both & -both; // the largest unit that both are multiples of
    if (whole < piece.unit)
      piece.split(whole);
    for (uint32_t i = from / piece.unit; i < to / piece.unit; ++i)
      if (auto conflict = (piece.parts ? piece.parts[i] : piece.whole).touch(access, viewers))
        return conflict;
    at += to - from;
  }
  return std::nullopt;
}

uint32_t Races::newAgent(std::function<std::string()> name) {
  names.push_back(std::move(name));
  return uint32_t(names.size() - 1);
}

} // namespace tilery::emulator
