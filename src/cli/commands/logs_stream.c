/* One container's log, followed until the container ends. Where it breaks off it is asked for again
 * from the second of the last line on, which is all that servers take; lines of that second that
 * were printed already are known by their times and number. */
#include "base/loop.h"
#include "cli/cluster/connect.h"
#include "cli/commands/logs.h"
#include "data/data.h"
#include "kube/kube.h"

#include <json-c/printbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RETRIES = 2,
    MAX_LINE_BYTES = 64 << 10,
    AGAIN_MS = 1000, /* the first pause, then twice as long */
    AGAIN_MAX_MS = 30000,
    RUNS_MS = 5000 /* until the pod's status says that a container has ended */
};

#define BROKEN "it broke off, and is taken up again"

struct sw_logs_stream {
    struct sw_connection *conn;
    char *ns, *pod, *container;
    int tail;
    struct sw_kube_request *request; /* NULL: it waits, or is over */
    struct sw_timer *timer;
    int64_t again_ms;      /* the next pause */
    bool is_told;          /* that it broke off */
    bool runs;             /* the container does */
    bool is_complete;      /* the server has ended it */
    bool is_resumed;       /* it was asked for more than once */
    struct printbuf *line; /* begun, not ended yet */
    bool in_line;          /* a piece of it was taken already... */
    bool is_left_out;      /* ... and is not printed */
    /* The time of the last line that was printed, as it was written, and how many have had it. */
    char *last;
    int64_t last_ms;
    size_t n_last;
    bool is_behind; /* it is being read again: what comes was printed up to that line */
    size_t n_again; /* lines of that time that came again */
};

/* ---- lines -------------------------------------------------------------------------------------
 */

/* Was the line that was written @at, @at_ms, printed before the log broke off? */
static bool was_printed(struct sw_logs_stream *s, const char *at, int64_t at_ms)
{
    bool is_last = sw_streq(at, s->last);
    if (!s->is_behind)
        return false;
    s->is_behind = at_ms < s->last_ms || (at_ms == s->last_ms && s->n_again < s->n_last);
    s->n_again += s->is_behind && is_last;
    return s->is_behind;
}

/* Cut the time off a line: NULL: it has none, as what kubelet itself writes. */
static char *cut_time(const char **text, size_t *len, int64_t *ms)
{
    enum { MAX_TIME = 40 };
    const char *blank = memchr(*text, ' ', *len < MAX_TIME ? *len : MAX_TIME);
    size_t n = blank ? (size_t)(blank - *text) : *len < MAX_TIME ? *len : 0; /* an empty line */
    SW_AUTO_CHARS *time = sw_strndup(*text, n);
    if (sw_time_parse(time, ms, NULL) < 0)
        return NULL;
    n += blank != NULL;
    *text += n;
    *len -= n;
    return SW_TAKE(time);
}

/* @is_piece: the line goes on. */
static void take(struct sw_logs_stream *s, const char *text, size_t len, bool is_piece)
{
    int64_t ms;
    SW_AUTO_CHARS *time = s->in_line ? NULL : cut_time(&text, &len, &ms);
    if (!s->in_line)
        s->is_left_out = time && was_printed(s, time, ms);
    s->in_line = is_piece;
    if (s->is_left_out)
        return;
    sw_logs_print(s->pod, s->container, text, len);
    if (!time)
        return;
    s->n_last = sw_streq(time, s->last) ? s->n_last + 1 : 1;
    s->last_ms = ms;
    sw_text_set(&s->last, time);
}

static void take_begun(struct sw_logs_stream *s, bool is_piece)
{
    if (s->line->bpos)
        take(s, s->line->buf, (size_t)s->line->bpos, is_piece);
    printbuf_reset(s->line);
    s->in_line = is_piece;
}

static void on_text(const char *bytes, size_t len, void *arg)
{
    struct sw_logs_stream *s = arg;
    s->again_ms = AGAIN_MS;
    s->is_told = false;
    for (const char *end = bytes + len; bytes < end;) {
        const char *nl = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((nl ? nl : end) - bytes), room = MAX_LINE_BYTES - (size_t)s->line->bpos;
        bool is_long = n > room;
        n = is_long ? room : n;
        printbuf_memappend(s->line, bytes, (int)n);
        bytes += n;
        if (nl && !is_long && !s->line->bpos && !s->in_line)
            sw_logs_print(s->pod, s->container, "", 0);
        else if (nl || is_long)
            take_begun(s, is_long);
        bytes += nl && !is_long;
    }
    (void)fflush(stdout);
}

/* ---- the request -------------------------------------------------------------------------------
 */

static void ask(struct sw_logs_stream *s);

static void on_time(void *arg)
{
    struct sw_logs_stream *s = arg;
    if (s->is_complete && !s->runs)
        return;
    if (s->is_complete)
        (void)fprintf(stderr, "slipway logs: %s/%s: " BROKEN "\n", s->pod, s->container);
    s->is_complete = false;
    s->is_resumed = true;
    ask(s);
}

static void ask_in(struct sw_logs_stream *s, int64_t ms)
{
    printbuf_reset(s->line); /* that line comes again, as a whole */
    s->in_line = false;
    if (!s->timer)
        s->timer = sw_timer_new(s->conn->loop, on_time, s);
    sw_timer_set(s->timer, ms);
}

static void on_end(const struct sw_kube_answer *answer, void *arg)
{
    struct sw_logs_stream *s = arg;
    s->request = NULL;
    if (answer->code == SW_UNAVAILABLE) {
        if (!s->is_told)
            (void)fprintf(stderr, "slipway logs: %s/%s: %s: %s\n", s->pod, s->container,
                          s->last ? BROKEN : "it is asked for again", sw_err_text(answer->err));
        s->is_told = true;
        ask_in(s, s->again_ms);
        s->again_ms = s->again_ms < AGAIN_MAX_MS / 2 ? s->again_ms * 2 : AGAIN_MAX_MS;
        return;
    }
    take_begun(s, false);
    (void)fflush(stdout);
    if (answer->code < 0 && answer->code != SW_NOTFOUND)
        (void)fprintf(stderr, "slipway logs: %s/%s: %s\n", s->pod, s->container,
                      sw_err_text(answer->err));
    s->is_complete = answer->code == 0;
    if (s->is_complete && s->runs) /* a server that stops ends it, too */
        ask_in(s, RUNS_MS);
}

static void ask(struct sw_logs_stream *s)
{
    char since[21] = "";
    if (s->last)
        sw_time_rfc3339(s->last_ms, since);
    s->is_behind = s->last != NULL;
    s->n_again = 0;
    const struct sw_request_opts opts = { .container = s->container,
                                          .tail_lines = s->last ? 0 : s->tail,
                                          .timestamps = true,
                                          .since_time = s->last ? since : NULL,
                                          .retries = RETRIES,
                                          .on_text = on_text };
    s->request = sw_kube_logs(s->conn->kube, s->ns, s->pod, &opts, on_end, s);
}

/* ---- for those who follow ----------------------------------------------------------------------
 */

struct sw_logs_stream *sw_logs_stream_new(struct sw_connection *conn, const char *ns,
                                          const char *pod, const char *container, int tail,
                                          struct sw_logs_stream *before)
{
    struct sw_logs_stream *s = sw_zalloc(1, sizeof *s);
    *s = (struct sw_logs_stream){ .conn = conn,
                                  .ns = sw_strdup(ns),
                                  .pod = sw_strdup(pod),
                                  .container = sw_strdup(container),
                                  .tail = tail,
                                  .again_ms = AGAIN_MS,
                                  .line = printbuf_new(),
                                  .runs = true };
    if (!s->line)
        abort();
    if (before && (before->is_resumed || !before->request)) {
        s->last = sw_strdup(before->last);
        s->last_ms = before->last_ms;
        s->n_last = before->n_last;
        sw_kube_cancel(SW_TAKE(before->request));
        sw_timer_stop(before->timer);
    }
    ask(s);
    return s;
}

void sw_logs_stream_set_running(struct sw_logs_stream *s, bool runs)
{
    s->runs = runs;
}

bool sw_logs_stream_is_over(const struct sw_logs_stream *s)
{
    return !s->request && !(s->timer && sw_timer_is_set(s->timer));
}

void sw_logs_stream_free(struct sw_logs_stream *s)
{
    if (!s)
        return;
    sw_kube_cancel(s->request);
    sw_timer_free(s->timer);
    free(s->ns);
    free(s->pod);
    free(s->container);
    free(s->last);
    printbuf_free(s->line);
    free(s);
}
