#include "base/seccomp.h"

#include <sys/prctl.h>

#ifdef SW_SECCOMP_ARCH

enum { FIRST_X32 = 0x40000000 };

void sw_seccomp_add(struct sw_seccomp *filter, struct sock_filter one)
{
    filter->code[filter->n++] = one;
}

void sw_seccomp_begin(struct sw_seccomp *filter)
{
    sw_seccomp_add(filter, SW_SECCOMP_LOAD(SW_SECCOMP_FIELD(arch)));
    sw_seccomp_add(filter, SW_SECCOMP_JUMP(BPF_JEQ, SW_SECCOMP_ARCH, 1, 0));
    sw_seccomp_add(filter, SW_SECCOMP_RETURN(SECCOMP_RET_KILL_PROCESS));
    sw_seccomp_add(filter, SW_SECCOMP_LOAD(SW_SECCOMP_FIELD(nr)));
#ifdef __x86_64__
    sw_seccomp_add(filter, SW_SECCOMP_JUMP(BPF_JGE, FIRST_X32, 0, 1));
    sw_seccomp_add(filter, SW_SECCOMP_RETURN(SECCOMP_RET_KILL_PROCESS));
#endif
}

void sw_seccomp_calls(struct sw_seccomp *filter, const int *calls, size_t n, unsigned what)
{
    for (size_t i = 0; i < n; i++) {
        sw_seccomp_add(filter, SW_SECCOMP_JUMP(BPF_JEQ, (unsigned)calls[i], 0, 1));
        sw_seccomp_add(filter, SW_SECCOMP_RETURN(what));
    }
}

bool sw_seccomp_enter(struct sw_seccomp *filter, unsigned what)
{
    sw_seccomp_add(filter, SW_SECCOMP_RETURN(what));
    const struct sock_fprog program = { filter->n, filter->code };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#endif
