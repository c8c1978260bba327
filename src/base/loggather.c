#include "base/loggather.h"

#include <json-c/printbuf.h>
#include <stdlib.h>

#include "base/loop.h"

enum { WAIT_MS = 20, MAX_BYTES = 8 * 1024 };

struct sw_log_gather {
    struct printbuf *lines;
    struct sw_timer *timer;
};

static void flush(void *arg)
{
    struct sw_log_gather *g = arg;
    sw_timer_stop(g->timer);
    if (g->lines->bpos)
        sw_log_write(g->lines->buf, (size_t)g->lines->bpos);
    printbuf_reset(g->lines);
}

static void on_line(enum sw_log_level level, const char *line, size_t len_bytes, void *arg)
{
    struct sw_log_gather *g = arg;
    printbuf_memappend(g->lines, line, (int)len_bytes);
    if (level <= SW_LOG_WARN || g->lines->bpos >= MAX_BYTES)
        flush(g);
    else if (!sw_timer_is_set(g->timer))
        sw_timer_set(g->timer, WAIT_MS);
}

struct sw_log_gather *sw_log_gather_open(struct sw_loop *loop)
{
    struct sw_log_gather *g = sw_zalloc(1, sizeof *g);
    *g = (struct sw_log_gather){ printbuf_new(), sw_timer_new(loop, flush, g) };
    sw_log_set_sink(on_line, g);
    return g;
}

void sw_log_gather_close(struct sw_log_gather *g)
{
    if (!g)
        return;
    sw_log_set_sink(NULL, NULL);
    flush(g);
    sw_timer_free(g->timer);
    printbuf_free(g->lines);
    free(g);
}
