#include "compiler/oracle/races.h"
#include <algorithm>

namespace tilery::oracle {

void Races::end(int64_t program) {
  if (waits)
    return;
  programs.erase(program);
  last = {-1, nullptr};
}

Races::Program &Races::programOf(int64_t program) {
  if (last.first != program)
    last = {program, &programs[program]};
  return *last.second;
}

uint32_t Races::partOf(int64_t number) {
  Program &program = programOf(number);
  if (!program.part) {
    program.part = uint32_t(parts.size());
    parts.push_back({number, ++program.time});
  }
  return program.part;
}

bool Races::isBeside(uint32_t part, int64_t number) const {
  if (!part || parts[part].program == number)
    return false;
  auto program = programs.find(number);
  if (program == programs.end() || !program->second.known)
    return true;
  const std::vector<uint32_t> &known = *program->second.known;
  size_t other = size_t(parts[part].program);
  return other >= known.size() || known[other] < parts[part].time;
}

// Who writes what is there already changes nothing for others, in whatever order they come.
int64_t Races::writerBesideWrite(const Cell &cell, int64_t program, AccessKind kind, bool changes) const {
  bool atomics = kind == AccessKind::Atomic && (cell.writer & 1);
  return changes && !atomics && isBeside(cell.writer >> 2, program) ? parts[cell.writer >> 2].program : -1;
}

int64_t Races::readerBesideWrite(const Cell &cell, int64_t program, AccessKind kind, bool changes) const {
  if (changes && kind == AccessKind::Plain)
    for (uint32_t reader : cell.readers)
      if (isBeside(reader, program))
        return parts[reader].program;
  return -1;
}

int64_t Races::writerBesideRead(const Cell &cell, int64_t program, AccessKind kind) const {
  bool matters = kind == AccessKind::Plain && (cell.writer & 3) == 2;
  return matters && isBeside(cell.writer >> 2, program) ? parts[cell.writer >> 2].program : -1;
}

void Races::write(Cell &cell, int64_t program, AccessKind kind, bool changes) {
  // Who polls by adding 0 writes nothing; whoever writes what was there plainly may meet one who writes something else.
  if (changes || (kind == AccessKind::Plain && !(cell.writer & 2)))
    cell.writer = partOf(program) << 2 | uint32_t(changes) << 1 | uint32_t(kind == AccessKind::Atomic);
}

void Races::read(Cell &cell, int64_t program, AccessKind kind) {
  if (kind == AccessKind::Atomic)
    return;
  uint32_t part = partOf(program);
  if (cell.readers[0] && parts[cell.readers[0]].program != program) // two suffice: one of them is not the next writer
    cell.readers[1] = cell.readers[0];
  cell.readers[0] = part;
}

void Races::learn(Clock &known, int64_t program, uint32_t time) {
  if (!known)
    known = std::make_shared<std::vector<uint32_t>>();
  if (known->size() <= size_t(program))
    known->resize(program + 1);
  (*known)[program] = std::max((*known)[program], time);
}

void Races::join(Clock &known, const Clock &other) {
  if (!other || known == other)
    return;
  if (!known) {
    known = other; // shared until one of them learns more
    return;
  }
  auto both = std::make_shared<std::vector<uint32_t>>(*known);
  both->resize(std::max(both->size(), other->size()));
  for (size_t i = 0; i < other->size(); ++i)
    (*both)[i] = std::max((*both)[i], (*other)[i]);
  known = std::move(both);
}

void Races::acquire(uint64_t address, int64_t number, const Cell *cell) {
  Program &program = programOf(number);
  if (auto found = released.find(address); found != released.end() && found->second != program.joined) {
    join(program.known, found->second);
    program.joined = found->second;
  }
  if (!waits || !cell || (cell->writer & 1) || !isBeside(cell->writer >> 2, number))
    return;
  int64_t signaller = parts[cell->writer >> 2].program;
  Program &other = programOf(signaller);
  join(program.known, other.known);
  if (program.known)
    program.known = std::make_shared<std::vector<uint32_t>>(*program.known);
  learn(program.known, signaller, other.time);
  other.part = 0;
}

void Races::release(uint64_t address, int64_t number) {
  Program &program = programOf(number);
  Clock &there = released[address];
  bool isMore = !program.known || size_t(number) >= program.known->size() || (*program.known)[number] < program.time;
  if (isMore) {
    // Where nobody but this program and this address hold the clock, it need not be copied.
    bool alone = program.known && program.known.use_count() == 1 + (program.known == there) + (program.known == program.joined);
    if (program.known && !alone)
      program.known = std::make_shared<std::vector<uint32_t>>(*program.known);
    learn(program.known, number, program.time);
  }
  if (!there || there == program.joined)
    there = program.known;
  else
    join(there, program.known);
  program.joined = there;
  program.part = 0;
}

} // namespace tilery::oracle
