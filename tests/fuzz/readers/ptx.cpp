// PTX as text, as kernels have it in inline assembly.
#include "tests/fuzz/readers/reader.h"
#include "tilery/inline_asm.h"

using namespace tilery;

std::vector<std::string> readers::seeds() {
  return {"shf.l.wrap.b32 $0, $1, $2, 17; // turned\n",
          "{ .reg .pred p; setp.lt.s32 p|q, $1, $2; @!p mov.b32 {h, l}, 0f3F800000; }",
          "ld.global.v4.b32 {a, b, c, d}, [$1]; /* and back */ st.global.b8 [$2], a;"};
}

/// Instructions as text again.
static std::string written(const std::vector<PtxInstruction> &instructions) {
  std::string text;
  for (const PtxInstruction &each : instructions)
    text += (each.guarded ? "@" + each.guard + " " : "") + each.text + ";\n";
  return text;
}

void readers::read(std::string_view bytes) {
  std::vector<PtxInstruction> instructions = readPtx(bytes);
  std::string text = written(instructions);
  if (std::string again = written(readPtx(text)); again != text)
    defect("`" + text + "` is read as `" + again + "`");
}
