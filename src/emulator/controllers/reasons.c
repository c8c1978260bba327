#include "emulator/controllers/reasons.h"

#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void sw_reasons_add(struct sw_reasons *reasons, size_t times, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = sw_vprintf(fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < reasons->n; i++) {
        if (sw_streq(reasons->items[i].text, text)) {
            reasons->items[i].n += times;
            free(text);
            return;
        }
    }
    SW_GROW(reasons->items, reasons->n, reasons->cap);
    reasons->items[reasons->n++] = (struct sw_reason){ text, times };
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* kube-scheduler sorts the lines with their counts in front, so "10 x" comes before "2 y". */
char *sw_reasons_text(struct sw_reasons *reasons, size_t n_nodes)
{
    if (!n_nodes)
        return sw_strdup("no nodes available to schedule pods");
    char **lines = sw_zalloc(reasons->n + 1, sizeof *lines);
    for (size_t i = 0; i < reasons->n; i++)
        lines[i] = sw_printf("%zu %s", reasons->items[i].n, reasons->items[i].text);
    qsort(lines, reasons->n, sizeof *lines, compare);
    char *text = sw_printf("0/%zu nodes are available:", n_nodes);
    for (size_t i = 0; i < reasons->n; i++) {
        sw_append(&text, "%s %s", i ? "," : "", lines[i]);
        free(lines[i]);
    }
    free(lines);
    sw_append(&text, ".");
    return text;
}

void sw_reasons_done(struct sw_reasons *reasons)
{
    for (size_t i = 0; i < reasons->n; i++)
        free(reasons->items[i].text);
    free(reasons->items);
    *reasons = (struct sw_reasons){ 0 };
}
