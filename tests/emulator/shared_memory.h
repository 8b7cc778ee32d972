#pragma once
// A block's shared memory, with what is under way in each 16 bytes of it.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilery::emulator {

constexpr uint32_t firstAddress = 1024; // of a block's shared memory, as i32
constexpr uint32_t pieceBytes = 16;
constexpr char undefinedByte = char(0xE7); // what memory holds that nobody has written

/// A barrier that counts arrivals and bytes.
struct CountingBarrier {
  uint32_t arrivals = 0, outstanding = 0; // of a phase
  int64_t bytes = 0;                      // to come
  uint64_t phase = 0;                     // how many are complete
  uint32_t maker = 0;
  bool shown = false; // to the copy engine
};

class SharedMemory {
public:
  struct Piece {
    uint16_t arriving = 0; // copies that write it
    uint16_t reading = 0;  // products and stores that read it
    uint32_t writer = 0;   // the thread whose writes the copy engine does not see yet, + 1
  };

  void make(uint32_t bytes);
  /// What a thread wrote behind the end of the memory that it asked for: true.
  bool overrun() const;
  char *at(uint32_t place) { return memory.get() + place; }
  uint32_t bytes() const { return size; }
  Piece &piece(uint32_t place) { return pieces[place / pieceBytes]; }
  /// what(place, piece)
  template <typename F> void each(uint32_t place, uint32_t count, F what) {
    for (uint32_t at = place / pieceBytes * pieceBytes; at < place + count; at += pieceBytes)
      what(at, piece(at));
  }

  std::map<uint32_t, CountingBarrier> barriers; // by place

private:
  std::unique_ptr<char, void (*)(void *)> memory{nullptr, std::free};
  std::vector<Piece> pieces;
  uint32_t size = 0;
};

} // namespace tilery::emulator
