#pragma once
// Which programs of a launch may meet at an element: what each wrote and read, and what atomics order (vector clocks).
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilery::oracle {

/// What an access says to other programs. Those of one kind of atomic may meet.
enum class AccessKind : uint8_t { Plain, Atomic };

/// The last accesses of an element; 0: none, else the number of a part (Races).
struct Cell {
  uint32_t writer = 0 /* << 2 | bit 1: it changed what was there | bit 0: atomic */, readers[2] = {0, 0};
};

/// A program consists of parts, which end where it releases something. A part is ordered before all that a program does after it acquired
/// what this part, or a later one of its program, has released.
class Races {
public:
  /// `programsWait`: for each other, as in a lock or a barrier of the whole grid.
  void begin(bool programsWait) { waits = programsWait; }

  /// The program that wrote or read the cell last of those that nothing orders before this access of `program`; -1: there is none.
  /// `changes`: the element gets other bits.
  int64_t writerBesideWrite(const Cell &cell, int64_t program, AccessKind kind, bool changes) const;
  int64_t readerBesideWrite(const Cell &cell, int64_t program, AccessKind kind, bool changes) const;
  int64_t writerBesideRead(const Cell &cell, int64_t program, AccessKind kind) const;
  void write(Cell &cell, int64_t program, AccessKind kind, bool changes);
  void read(Cell &cell, int64_t program, AccessKind kind);

  /// The program sees what others have released at this address. Where programs wait for each other a plain write that is seen by an
  /// atomic read is a release, too: there is no volatile store in the languages.
  void acquire(uint64_t address, int64_t program, const Cell *cell);
  void release(uint64_t address, int64_t program);
  /// The program has run, and no other one runs beside it.
  void end(int64_t program);

private:
  using Clock = std::shared_ptr<std::vector<uint32_t>>; // the last part of each program that is known to be over; null: none
  struct Part {
    int64_t program;
    uint32_t time; // 1, 2, ... within the program
  };
  struct Program {
    uint32_t part = 0; // 0: the next access begins one
    uint32_t time = 0;
    Clock known;
    Clock joined; // what it acquired last
  };
  bool waits = false;
  std::vector<Part> parts{{-1, 0}};
  std::unordered_map<int64_t, Program> programs;
  std::pair<int64_t, Program *> last{-1, nullptr}; // that was looked for
  std::unordered_map<uint64_t, Clock> released;    // by address

  Program &programOf(int64_t program);
  uint32_t partOf(int64_t program);
  bool isBeside(uint32_t part, int64_t program) const;
  static void join(Clock &known, const Clock &other);
  static void learn(Clock &known, int64_t program, uint32_t time);
};

} // namespace tilery::oracle
