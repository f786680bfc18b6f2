#include "lanewise/backend/cpu/enter.h"

#include "lanewise/ops/meaning.h"

// The area of xsave64 in its standard form, for x87, SSE, AVX and the three AVX-512 parts (0xe7):
// at most 2,688 bytes, 64-byte aligned, with the 64 bytes at 512 cleared before. Parts the machine
// lacks are skipped by it. 24 and 32 are the offsets of poll and fail (runtime/context.h).
static_assert(lw::runtime::ContextLayout::kPoll == 24 && lw::runtime::ContextLayout::kFail == 32);

#define LW_SAVE              \
  "  pushq %rbp\n"           \
  "  movq %rsp, %rbp\n"      \
  "  pushq %rax\n"           \
  "  pushq %rcx\n"           \
  "  pushq %rdx\n"           \
  "  pushq %rsi\n"           \
  "  pushq %rdi\n"           \
  "  pushq %r8\n"            \
  "  pushq %r9\n"            \
  "  pushq %r10\n"           \
  "  pushq %r11\n"           \
  "  subq $2752, %rsp\n"     \
  "  andq $-64, %rsp\n"      \
  "  xorl %eax, %eax\n"      \
  "  movq %rax, 512(%rsp)\n" \
  "  movq %rax, 520(%rsp)\n" \
  "  movq %rax, 528(%rsp)\n" \
  "  movq %rax, 536(%rsp)\n" \
  "  movq %rax, 544(%rsp)\n" \
  "  movq %rax, 552(%rsp)\n" \
  "  movq %rax, 560(%rsp)\n" \
  "  movq %rax, 568(%rsp)\n" \
  "  xorl %edx, %edx\n"      \
  "  movl $0xe7, %eax\n"     \
  "  xsave64 (%rsp)\n"       \
  "  movq -24(%rbp), %rdx\n"

#define LW_RESTORE           \
  "  xorl %edx, %edx\n"      \
  "  movl $0xe7, %eax\n"     \
  "  xrstor64 (%rsp)\n"      \
  "  leaq -72(%rbp), %rsp\n" \
  "  popq %r11\n"            \
  "  popq %r10\n"            \
  "  popq %r9\n"             \
  "  popq %r8\n"             \
  "  popq %rdi\n"            \
  "  popq %rsi\n"            \
  "  popq %rdx\n"            \
  "  popq %rcx\n"            \
  "  popq %rax\n"            \
  "  popq %rbp\n"            \
  "  retq\n"

asm(".text\n"
    ".globl lanewise_enter_poll\n"
    ".hidden lanewise_enter_poll\n"
    ".type lanewise_enter_poll, @function\n"
    "lanewise_enter_poll:\n" LW_SAVE
    "  callq *24(%rdi)\n"
    "  movq %rax, -8(%rbp)\n" LW_RESTORE
    ".size lanewise_enter_poll, . - lanewise_enter_poll\n"
    ".globl lanewise_enter_fail\n"
    ".hidden lanewise_enter_fail\n"
    ".type lanewise_enter_fail, @function\n"
    "lanewise_enter_fail:\n" LW_SAVE "  callq *32(%rdi)\n" LW_RESTORE
    ".size lanewise_enter_fail, . - lanewise_enter_fail\n");

namespace {

template <double lw::ops::meaning::ReducedAngle::* part>
void replace(double* values, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i)
    values[i] = lw::ops::meaning::reduce_angle(values[i]).*part;
}

}  // namespace

void lanewise_angle_rest(double* values, std::int32_t count) {
  replace<&lw::ops::meaning::ReducedAngle::r>(values, count);
}
void lanewise_angle_lost(double* values, std::int32_t count) {
  replace<&lw::ops::meaning::ReducedAngle::rest>(values, count);
}
void lanewise_angle_quadrant(double* values, std::int32_t count) {
  replace<&lw::ops::meaning::ReducedAngle::quadrant>(values, count);
}
