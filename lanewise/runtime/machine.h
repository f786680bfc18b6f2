// What this machine can do at most: measured once, when somebody asks.
#pragma once

namespace lw::runtime {

/// Bytes a second that so many workers read and write at most, copying between arrays that no cache
/// holds; 0 if there is no memory to find out. The first call for a number of workers takes some 50
/// ms.
double copy_bandwidth(int workers);

/// Cycles a second, by a chain of additions that take one each.
double clock_rate();

}  // namespace lw::runtime
