/* A blocking transfer: on a loop of its own, until its end. */
#include "net/http/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/loop.h"

enum { MAX_KEPT_BYTES = 64 << 20, RETRY_DEADLINE_MS = 60000 };

struct fetch {
    struct sw_loop *loop;
    const struct sw_http_spec *asked;
    struct sw_http_answer answer;
    size_t cap;
    int rc;
    struct sw_err err;
};

static int on_data(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg)
{
    struct fetch *f = arg;
    struct sw_http_answer *a = &f->answer;
    if (f->asked->on_data)
        return f->asked->on_data(http_status, bytes, len, err, f->asked->arg);
    if (a->len_bytes + len + 1 > f->cap) {
        f->cap = (a->len_bytes + len + 1) * 2;
        a->body = sw_realloc(a->body, f->cap, 1);
    }
    memcpy(a->body + a->len_bytes, bytes, len);
    a->len_bytes += len;
    return 0;
}

static void on_header(const char *name, const char *value, void *arg)
{
    struct fetch *f = arg;
    if (strcasecmp(name, "content-type") == 0) {
        sw_text_set(&f->answer.content_type, value);
    }
    if (f->asked->on_header)
        f->asked->on_header(name, value, f->asked->arg);
}

static void on_head(int http_status, void *arg)
{
    struct fetch *f = arg;
    if (f->asked->on_head)
        f->asked->on_head(http_status, f->asked->arg);
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct fetch *f = arg;
    f->rc = result->code;
    f->answer.http_status = result->http_status;
    f->answer.url = sw_strdup(result->url);
    if (result->code)
        (void)sw_err_set(&f->err, result->code, "%s", sw_err_text(result->err));
    sw_loop_stop(f->loop);
}

void sw_http_answer_done(struct sw_http_answer *answer)
{
    free(answer->url);
    free(answer->content_type);
    free(answer->body);
    *answer = (struct sw_http_answer){ 0 };
}

int sw_http_fetch(const struct sw_http_opts *opts, const struct sw_http_spec *spec,
                  struct sw_http_answer *out, struct sw_err *err)
{
    struct fetch f = { .loop = sw_loop_new(NULL), .asked = spec };
    struct sw_http *http = sw_http_new(f.loop, opts ? opts : &(struct sw_http_opts){ 0 });
    struct sw_http_spec s = *spec;
    s.on_data = on_data;
    s.on_header = on_header;
    s.on_head = on_head;
    s.on_done = on_done;
    s.arg = &f;
    if (!s.max_bytes && !spec->on_data)
        s.max_bytes = MAX_KEPT_BYTES;
    if (!s.timeout_ms && !s.answer_ms && !s.idle_ms)
        s.answer_ms = s.idle_ms = RETRY_DEADLINE_MS;
    (void)sw_http_start(http, &s);
    sw_loop_run(f.loop);
    sw_http_free(http);
    sw_loop_free(f.loop);
    if (f.rc < 0) {
        sw_http_answer_done(&f.answer);
        return sw_err_move(err, &f.err);
    }
    if (!f.answer.content_type)
        f.answer.content_type = sw_strdup("");
    if (!f.answer.body)
        f.answer.body = sw_strdup("");
    f.answer.body[f.answer.len_bytes] = '\0';
    *out = f.answer;
    return 0;
}
