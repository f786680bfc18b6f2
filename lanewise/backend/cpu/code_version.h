// The version of this library together with a digest of its sources (cmake/CodeVersion.cmake).
#pragma once

namespace lw::backend::cpu {

extern const char* const kCodeVersion;

}  // namespace lw::backend::cpu
