// lanewise_reference [docs/accuracy.md] prints the reference page of the functions.
#include <fmt/core.h>

#include <fstream>
#include <sstream>

#include "tools/reference/page.h"

int main(int argc, char** argv) {
  const char* file = argc > 1 ? argv[1] : "docs/accuracy.md";
  std::ifstream in(file);
  if (!in) {
    fmt::print(stderr, "lanewise_reference: cannot read {}\n", file);
    return 2;
  }
  std::ostringstream accuracy;
  accuracy << in.rdbuf();
  fmt::print("{}", lw::reference::functions_page(accuracy.str()));
}
