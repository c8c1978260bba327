#include "cli/ask.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/loop.h"
#include "cli/connect.h"
#include "data/data.h"

/* A question on its way. */
struct question {
    struct sw_kube_request *req;
    bool answered;
    int code;
    struct sw_err *err;
    const struct sw_kind *kind;
    struct json_object *object;
    char *text;
};

static void fail(struct question *q, int code, const struct sw_err *err)
{
    q->answered = true;
    q->code = sw_err_set(q->err, code, "%s", err ? sw_err_text(err) : sw_code_name(code));
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct question *q = arg;
    q->req = NULL;
    q->answered = true;
    q->kind = kind;
    if (code < 0)
        fail(q, code, err);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct question *q = arg;
    if (a->code < 0) {
        q->req = NULL;
        fail(q, a->code, a->err);
        return;
    }
    if (a->object)
        q->object = json_object_get(a->object);
    for (size_t i = 0; i < sw_json_len(a->items); i++) {
        if (!q->object)
            q->object = json_object_new_array();
        (void)json_object_array_add(q->object, json_object_get(sw_json_at(a->items, i)));
    }
    if (a->text)
        q->text = sw_strndup(a->text, a->len_bytes);
    if (a->more)
        return;
    q->req = NULL;
    q->answered = true;
}

static int wait(const struct sw_ask *ask, struct question *q)
{
    struct sw_loop *loop = ask->conn->loop;
    int64_t left_ms;
    while (!q->answered && !ask->conn->signal &&
           (left_ms = ask->until_ms - sw_loop_now_ms(loop)) > 0)
        sw_loop_step(loop, left_ms);
    if (q->answered)
        return q->code;
    sw_kube_cancel(q->req);
    return sw_err_set(q->err, SW_UNAVAILABLE, "the API server did not answer in time");
}

static void done(struct question *q)
{
    json_object_put(q->object);
    free(q->text);
}

static int find_kind(const struct sw_ask *ask, const char *api_version, const char *kind,
                     const struct sw_kind **out, struct sw_err *err)
{
    struct question q = { .err = err };
    *out = sw_kube_kind_find(ask->conn->kube, api_version, kind);
    if (*out)
        return 0;
    q.req = sw_kube_kind(ask->conn->kube, api_version, kind, on_kind, &q);
    int rc = wait(ask, &q);
    *out = q.kind;
    return rc;
}

int sw_ask_get(const struct sw_ask *ask, const char *api_version, const char *kind, const char *ns,
               const char *name, const struct sw_request_opts *opts, struct json_object **out,
               struct sw_err *err)
{
    const struct sw_kind *k;
    struct question q = { .err = err };
    struct sw_kube *kube = ask->conn->kube;
    int rc = find_kind(ask, api_version, kind, &k, err);
    if (rc < 0)
        return rc;
    const char *in = k->namespaced && ns && *ns ? ns : NULL;
    q.req = name ? sw_kube_get(kube, k, in, name, opts, on_answer, &q)
                 : sw_kube_list(kube, k, in, opts, on_answer, &q);
    rc = wait(ask, &q);
    if (rc == 0)
        *out = q.object ? SW_TAKE(q.object) : json_object_new_array();
    done(&q);
    return rc;
}

int sw_ask_logs(const struct sw_ask *ask, const char *ns, const char *pod,
                const struct sw_request_opts *opts, char **out, struct sw_err *err)
{
    struct question q = { .err = err };
    q.req = sw_kube_logs(ask->conn->kube, ns, pod, opts, on_answer, &q);
    int rc = wait(ask, &q);
    if (rc == 0)
        *out = q.text ? SW_TAKE(q.text) : sw_strdup("");
    done(&q);
    return rc;
}
