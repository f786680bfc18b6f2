#include "lanewise/api/backends.h"

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/backend/tile/machine.h"

namespace lw::api {

runtime::Backend cpu_backend() {
  return {.interpret = [](const kernel::Kernel& kernel) -> std::unique_ptr<runtime::Interpreter> {
            return std::make_unique<backend::tile::Machine>(kernel);
          },
          .compile = backend::cpu::compile_object,
          .link = backend::cpu::link,
          .target = backend::cpu::target};
}

}  // namespace lw::api
