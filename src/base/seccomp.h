#pragma once
/* seccomp: filters of system calls, see seccomp(2). A filter is made rule by rule: the first that
 * names a call decides. Little-endian machines: of an argument the low word comes first. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* Not defined: the numbers of this machine's calls are not known, nothing is filtered. */
#if defined(__x86_64__)
#define SW_SECCOMP_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SW_SECCOMP_ARCH AUDIT_ARCH_AARCH64
#endif

/** Zero-initialise. */
struct sw_seccomp {
    struct sock_filter code[400];
    unsigned short n;
};

#define SW_SECCOMP_LOAD(at) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at)))
#define SW_SECCOMP_RETURN(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (what)))
#define SW_SECCOMP_JUMP(how, k, yes, no)                                                           \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, (k), (yes), (no)))
#define SW_SECCOMP_FIELD(name) offsetof(struct seccomp_data, name)
#define SW_SECCOMP_FAIL(error) (SECCOMP_RET_ERRNO | (error))

#ifdef SW_SECCOMP_ARCH
/** The first rule: calls of another architecture end the process. The number is loaded. */
void sw_seccomp_begin(struct sw_seccomp *filter);
void sw_seccomp_add(struct sw_seccomp *filter, struct sock_filter one);
/** For each of @calls: @what, such as SECCOMP_RET_ALLOW. */
void sw_seccomp_calls(struct sw_seccomp *filter, const int *calls, size_t n, unsigned what);
/** For all calls that no rule names: @what. From here on the filter holds for this process and its
 * children. @return whether the kernel took it */
bool sw_seccomp_enter(struct sw_seccomp *filter, unsigned what);
#endif
