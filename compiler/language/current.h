#pragma once
// The builder that the C++ language uses on this thread.
#include "tilery/builder.h"
#include <source_location>

namespace tilery {
/// Makes `builder` the current one while it lives.
class BuilderScope {
public:
  explicit BuilderScope(Builder &builder);
  ~BuilderScope();

private:
  Builder *previous;
};
/// The current builder, with `where` as the position of what is built next; throws Error outside a Program.
Builder &builderAt(const std::source_location &where);
} // namespace tilery
