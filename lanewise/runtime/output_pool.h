// Memory for large results. New pages cost more than most mathematics, so what a caller drops is
// kept for the next result: in size classes, with huge pages, up to a bound in bytes, beyond which
// the longest unused is freed. A process that runs no maps for some seconds gives all of it back.
#pragma once

#include <cstddef>

namespace lw::runtime {

/// Results at least so large come from the pool; malloc keeps smaller ones as well.
inline constexpr std::size_t kPooledBytes = std::size_t{256} << 10;

/// Uninitialised memory that begins at a page, a huge one if it is large; null if there is none.
void* take_output(std::size_t bytes);
/// Gives back what `take_output` gave.
void return_output(void* memory) noexcept;
/// The bytes that can be used at `memory`.
std::size_t output_bytes(const void* memory);

/// Frees what is unused for so long; all of it without a number. True: nothing is left.
bool trim_output_pool(double unused_seconds = 0) noexcept;
/// Sets the bound in bytes of what is kept. At the start: LANEWISE_POOL_BYTES, else a sixteenth of
/// what the process may use.
void set_output_pool_bytes(std::size_t most_bytes);

}  // namespace lw::runtime
