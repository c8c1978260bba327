#include "base/base.h"

#include <pthread.h>

/* The rest stays for what a recursion's innermost level calls: libraries, formatting, a lookup. */
enum { REST = 4 /* a quarter of the stack */ };

/* Where this thread's stack may be used down to. NULL: not known yet. */
static _Thread_local const char *stack_floor;

/* For the first thread this is RLIMIT_STACK below the stack's start, for others what they were
 * created with. Where even that is not known (no /proc), half a MiB is taken for the whole. */
static const char *find_floor(const char *here)
{
    enum { UNKNOWN = 512 * 1024 };
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        (void)pthread_attr_getstack(&attr, &low, &size);
        (void)pthread_attr_destroy(&attr);
    }
    const char *start = low;
    if (!start || here < start || (size_t)(here - start) > size)
        return here - UNKNOWN / REST * (REST - 1);
    return start + size / REST;
}

/* The frame's address, not that of a local: AddressSanitizer keeps locals on the heap. */
bool sw_stack_has_room(void)
{
    const char *here = __builtin_frame_address(0);
    if (!stack_floor)
        stack_floor = find_floor(here);
    return here > stack_floor;
}
