#include <stdarg.h>
#include <stdlib.h>

#include "data/text/cut.h"
#include "operator/engine/readiness/readiness.h"

void sw_readiness_done(struct sw_readiness *readiness)
{
    free(readiness->reason);
    free(readiness->message);
    free(readiness->container);
    *readiness = (struct sw_readiness){ 0 };
}

/* What others wrote ends up in the status of a resource, in Events and logs. */
enum { MESSAGE_BYTES = 1024, REASON_BYTES = 128 };

void sw_readiness_set(struct sw_readiness *readiness, enum sw_readiness_kind kind,
                      const char *reason, const char *fmt, ...)
{
    sw_readiness_done(readiness);
    readiness->kind = kind;
    if (kind == SW_READINESS_READY)
        return;
    va_list ap;
    va_start(ap, fmt);
    readiness->reason = sw_text_cut(reason, REASON_BYTES);
    SW_AUTO_CHARS *message = sw_vprintf(fmt, ap);
    va_end(ap);
    readiness->message = sw_text_cut(message, MESSAGE_BYTES);
}
