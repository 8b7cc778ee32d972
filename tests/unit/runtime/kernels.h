#pragma once
// Kernels for tests, written as LLVM IR.
#include "tilery/runtime.h"
#include <gtest/gtest.h>

namespace tilery::test {
/// The object of a module's text. Throws std::runtime_error if LLVM cannot read it.
std::string objectOf(const std::string &text);

/// A kernel `k` whose per-program code is `body`: i64 %id, ptr %args, ptr %launch, ptr %scratch. It must branch to %next.
inline std::string programLoop(const std::string &body, const std::string &declarations = "") {
  return declarations + R"(
define void @k(ptr %launch, i64 %begin, i64 %end, ptr %scratch) uwtable {
entry:
  %args = load ptr, ptr %launch
  br label %program
program:
  %id = phi i64 [ %begin, %entry ], [ %id.next, %next ]
)" + body +
         R"(
next:
  %id.next = add i64 %id, 1
  %more = icmp slt i64 %id.next, %end
  br i1 %more, label %program, label %exit
exit:
  ret void
})";
}

/// Adds 1 to element `id` of the i32 array in slot 0.
inline const char *incrementBody = R"(
  %array = load ptr, ptr %args
  %element = getelementptr i32, ptr %array, i64 %id
  %old = load i32, ptr %element
  %new = add i32 %old, 1
  store i32 %new, ptr %element
  br label %next
)";

inline KernelPtr kernelOf(const std::string &text, uint64_t scratchBytes = 0, size_t pointers = 1) {
  CodeImage image;
  image.object = objectOf(text);
  KernelInfo info{"k", scratchBytes, {}};
  for (size_t i = 0; i < pointers; ++i)
    info.args.push_back({"a" + std::to_string(i), DType::I32, true, i == 0});
  image.kernels = {info};
  return load(image).front();
}
} // namespace tilery::test
