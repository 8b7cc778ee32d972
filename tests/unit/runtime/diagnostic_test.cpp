#include "tilery/diagnostic.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {

std::string fakeSource(const std::string &file, int line) {
  if (file == "helper.py" && line == 3)
    return "  return a + b";
  if (file == "main.py" && line == 12)
    return "\tx = add(a, b)";
  return {};
}

TEST(Diagnostic, RendersTheWholeChain) {
  Diagnostic d{Diagnostic::Kind::Value,
               "shapes (4,) and (8,) do not broadcast",
               "use a[:, None]",
               {{"helper.py", 3, 10, "add"}, {"main.py", 12, 2, "kernel"}}};
  EXPECT_EQ(render(d, fakeSource), "shapes (4,) and (8,) do not broadcast\n"
                                   "  at helper.py:3:10 in add\n"
                                   "    3 |   return a + b\n"
                                   "      |          ^\n"
                                   "  called from main.py:12:2 in kernel\n"
                                   "    12 | \tx = add(a, b)\n"
                                   "       | \t^\n"
                                   "  hint: use a[:, None]");
}

TEST(Diagnostic, UnknownPlacesAreLeftOut) {
  EXPECT_EQ(render({Diagnostic::Kind::Error, "wrong", "", {}}), "wrong");
  EXPECT_EQ(render({Diagnostic::Kind::Error, "wrong", "", {{"no/such/file.py", 7, 0, ""}}}), "wrong\n  at no/such/file.py:7");
}

TEST(Diagnostic, TravelsAsAnException) {
  try {
    throw Error({Diagnostic::Kind::Index, "wrong", "fix it", {}});
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(), "wrong\n  hint: fix it");
    EXPECT_EQ(dynamic_cast<const Error &>(error).diagnostic().kind, Diagnostic::Kind::Index);
  }
}

} // namespace
