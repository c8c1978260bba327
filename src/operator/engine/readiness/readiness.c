#include <stdarg.h>
#include <stdlib.h>

#include "operator/engine/readiness/gate.h"

void sw_verdict_done(struct sw_verdict *verdict)
{
    free(verdict->reason);
    free(verdict->message);
    free(verdict->container);
    *verdict = (struct sw_verdict){ 0 };
}

void sw_verdict_set(struct sw_verdict *verdict, enum sw_verdict_kind kind, const char *reason,
                    const char *fmt, ...)
{
    sw_verdict_done(verdict);
    verdict->kind = kind;
    if (kind == SW_VERDICT_READY)
        return;
    va_list ap;
    va_start(ap, fmt);
    verdict->reason = sw_strdup(reason);
    verdict->message = sw_vprintf(fmt, ap);
    va_end(ap);
}
