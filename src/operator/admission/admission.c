#include "operator/admission/admission.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/json/large.h"
#include "data/json/stream.h"
#include "kube/kube.h"
#include "kube/review.h"
#include "net/serve/serve.h"
#include "operator/account/account.h"

enum {
    TIMEOUT_MS = 10 * 1000,
    QUESTION_MS = 5 * 1000,
    MAX_CONNS = 64,
    /* of memory: a body of 3 MiB may be a tree of 800 */
    MAX_HEAD = 16 << 10,
    MAX_REVIEW = 8 << 20, /* of two specs, each as large as the controller reads it */
    MAX_USER = 128 << 10, /* which is kept until the API server has answered, of each connection */
};

/* What the answer needs, and what the question. */
static const char *const head_fields[] = { "apiVersion", "kind", "request.uid",
                                           "request.userInfo.username" };
static const char *const review_fields[] = {
    "request.operation",
    "request.userInfo",
    "request.object.metadata.name",
    "request.object.metadata.annotations",
    "request.object.spec",
    "request.oldObject.metadata.annotations",
    "request.oldObject.spec",
};

/** A review whose author the API server is asked about. */
struct pending {
    struct sw_admission *admission;
    struct pending *next, **prev;
    struct sw_serve_reply *reply;
    struct json_object *head; /* of the review */
    struct sw_admission_question question;
    struct sw_kube_request *req;
};

struct sw_admission {
    struct sw_admission_opts opts;
    struct sw_serve *serve;
    struct sw_projection *head, *review;
    struct pending *pending;
    char *cert, *key;
};

/* ---- what is asked -----------------------------------------------------------------------------
 */

void sw_admission_question_done(struct sw_admission_question *q)
{
    free(q->ns);
    free(q->account);
    json_object_put(q->user);
    *q = (struct sw_admission_question){ 0 };
}

static bool same_annotations(struct json_object *a, struct json_object *b)
{
    struct json_object *of_a = sw_json_find(a, "metadata", "annotations", NULL),
                       *of_b = sw_json_find(b, "metadata", "annotations", NULL);
    return sw_json_len(of_a) + sw_json_len(of_b) == 0 || sw_json_equal(of_a, of_b);
}

/* Another recipe, or another value, is another use of the account. */
static bool asks_for_something_else(struct json_object *request, struct json_object *object)
{
    struct json_object *old = sw_json_get(request, "oldObject");
    return !sw_streq(sw_json_str(request, NULL, "operation", NULL), "UPDATE") ||
           !sw_json_equal(sw_json_get(object, "spec"), sw_json_get(old, "spec")) ||
           !same_annotations(object, old);
}

int sw_admission_read(const struct sw_admission_opts *opts, struct json_object *review,
                      struct sw_admission_question *out, struct sw_err *err)
{
    struct json_object *request = sw_json_get(review, "request"),
                       *object = sw_json_get(request, "object"),
                       *user = sw_json_get(request, "userInfo");
    const char *name = sw_obj_name(object), *who = sw_json_str(user, "", "username", NULL),
               *account = sw_json_str(object, NULL, "spec", "serviceAccountName", NULL),
               *ns = sw_json_str(object, "", "spec", "namespace", NULL);
    *out = (struct sw_admission_question){ 0 };
    if (!*name)
        return sw_err_set(err, SW_INVALID, "request.object.metadata.name is missing");
    if (!*who)
        return sw_err_set(err, SW_INVALID, "request.userInfo.username is missing");
    if (sw_streq(who, opts->operator_user) || !asks_for_something_else(request, object) ||
        (opts->legacy && !account))
        return 0;
    /* a template may become any namespace: who writes one needs the right in all of them */
    out->asks = true;
    out->ns = sw_strdup(strstr(ns, "{{") ? "" : *ns ? ns : name);
    out->account = account ? sw_strdup(account) : sw_printf("slipway-%s", name);
    out->user = json_object_get(user);
    return 0;
}

static int keep(void *arg, const char *type SW_UNUSED, struct json_object *object,
                struct sw_err *err SW_UNUSED)
{
    json_object_put(*(struct json_object **)arg);
    *(struct json_object **)arg = json_object_get(object);
    return 0;
}

/* The @fields of a review. @return 0 | SW_INVALID: no JSON object, or more than @max_bytes */
static int read_fields(const struct sw_serve_request *r, const struct sw_projection *fields,
                       size_t max_bytes, struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_stream_opts opts = { .kind = SW_STREAM_OBJECT,
                                         .projection = fields,
                                         .max_tree_bytes = max_bytes };
    SW_AUTO(sw_stream) *stream = sw_stream_new(&opts, keep, &doc);
    int rc = sw_stream_feed(stream, r->body, r->body_len, err);
    if (rc == 0)
        rc = sw_stream_end(stream, err);
    if (rc < 0)
        return sw_err_wrap(err, SW_INVALID, "no JSON object");
    if (sw_stream_is_stripped(doc))
        return sw_err_set(err, SW_INVALID, "it takes more than %zu KiB of memory, and is not read",
                          max_bytes >> 10);
    *out = SW_TAKE(doc);
    return 0;
}

/* What the review of @head asks. @return as sw_admission_read() | SW_INVALID: it is too large */
static int read_question(struct sw_admission *s, const struct sw_serve_request *r,
                         struct json_object *head, struct sw_admission_question *out,
                         struct sw_err *err)
{
    const char *who = sw_json_str(head, "", "request", "userInfo", "username", NULL);
    SW_AUTO_JSON *review = NULL;
    if (*who && sw_streq(who, s->opts.operator_user))
        return 0; /* what is too large is so for others: it has to end what is there */
    int rc = read_fields(r, s->review, MAX_REVIEW, &review, err);
    if (rc == 0)
        rc = sw_admission_read(&s->opts, review, out, err);
    if (rc == 0 && sw_json_tree_bytes(out->user) > MAX_USER)
        rc = sw_err_set(err, SW_INVALID, "request.userInfo takes more than %d KiB of memory",
                        MAX_USER >> 10);
    return rc;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void pending_free(struct pending *p)
{
    *p->prev = p->next;
    if (p->next)
        p->next->prev = p->prev;
    sw_kube_cancel(p->req);
    sw_admission_question_done(&p->question);
    json_object_put(p->head);
    free(p);
}

static void answer(struct sw_serve_reply *reply, struct json_object *review, int code,
                   const char *message)
{
    SW_AUTO_JSON *doc = sw_kube_review_answer(review, code, message, NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    sw_serve_json(reply, text, len);
}

static void on_reviewed(const struct sw_kube_answer *a, void *arg)
{
    struct pending *p = arg;
    p->req = NULL;
    if (a->code < 0) {
        SW_AUTO_CHARS *text = sw_printf("the API server cannot be asked: %s\n",
                                        sw_err_text(a->err));
        sw_log(SW_LOG_WARN, "a write is refused: the API server cannot be asked who may",
               "question", "SubjectAccessReview", "error", sw_err_text(a->err), NULL);
        sw_serve_text(p->reply, 503, text);
    } else if (sw_kube_access_is_allowed(a->object)) {
        answer(p->reply, p->head, 0, NULL);
    } else {
        SW_AUTO_CHARS *text = sw_printf(
            "it is walked as the account %s/%s: who writes it needs the verb use on that account",
            p->question.ns, p->question.account);
        answer(p->reply, p->head, SW_FORBIDDEN, text);
    }
    pending_free(p);
}

static void ask(struct pending *p)
{
    SW_AUTO_JSON *what = json_object_new_object();
    static const char resource[] = "resourceAttributes";
    sw_json_set_str(what, "use", resource, "verb", NULL);
    sw_json_set_str(what, "serviceaccounts", resource, "resource", NULL);
    sw_json_set_str(what, p->question.account, resource, "name", NULL);
    sw_json_set_str(what, p->question.ns, resource, "namespace", NULL);
    p->req = sw_kube_access_review(p->admission->opts.kube, p->question.user, what,
                                   REQUEST_OWN(REVIEWS, .timeout_ms = QUESTION_MS, .ahead = true),
                                   on_reviewed, p);
}

static void serve_validate(const struct sw_serve_request *r, struct sw_serve_reply *reply,
                           void *arg)
{
    struct sw_admission *s = arg;
    struct sw_admission_question question = { 0 };
    SW_AUTO_JSON *head = NULL;
    SW_ERR(err);
    if (r->not_json) {
        sw_serve_text(reply, 415, "expected Content-Type: application/json\n");
        return;
    }
    if (read_fields(r, s->head, MAX_HEAD, &head, &err) < 0 ||
        sw_kube_review_check(head, &err) < 0) {
        sw_serve_text(reply, 400, sw_err_text(&err));
        return;
    }
    int rc = read_question(s, r, head, &question, &err);
    if (rc < 0 || !question.asks) {
        answer(reply, head, rc, rc < 0 ? sw_err_text(&err) : NULL);
        sw_admission_question_done(&question);
        return;
    }
    struct pending *p = sw_zalloc(1, sizeof *p);
    *p = (struct pending){ .admission = s,
                           .next = s->pending,
                           .prev = &s->pending,
                           .reply = reply,
                           .head = SW_TAKE(head),
                           .question = question };
    if (p->next)
        p->next->prev = &p->next;
    s->pending = p;
    ask(p);
}

/* ---- the server --------------------------------------------------------------------------------
 */

static const struct sw_serve_route routes[] = { { "POST", "/validate", serve_validate } };

int sw_admission_open(struct sw_loop *loop, const struct sw_admission_opts *opts,
                      struct sw_admission **out, struct sw_err *err)
{
    const char *address = sw_text_or(opts->address, "0");
    *out = NULL;
    if (sw_streq(address, "0"))
        return 0;
    if (!sw_text_or(opts->cert_dir, NULL))
        return sw_err_set(err, SW_INVALID, "admission: it needs a certificate");
    struct sw_admission *s = sw_zalloc(1, sizeof *s);
    s->opts = *opts;
    s->cert = sw_printf("%s/tls.crt", opts->cert_dir);
    s->key = sw_printf("%s/tls.key", opts->cert_dir);
    int rc = sw_projection_compile(head_fields, SW_COUNT(head_fields), &s->head, err);
    if (rc == 0)
        rc = sw_projection_compile(review_fields, SW_COUNT(review_fields), &s->review, err);
    if (rc == 0)
        rc = sw_serve_open_at(loop, address,
                              &(struct sw_serve_opts){ .routes = routes,
                                                       .n_routes = SW_COUNT(routes),
                                                       .arg = s,
                                                       .tls = &sw_serve_openssl,
                                                       .cert_file = s->cert,
                                                       .key_file = s->key,
                                                       .request_ms = TIMEOUT_MS,
                                                       .max_conns = MAX_CONNS },
                              &s->serve, err);
    if (rc < 0) {
        sw_admission_close(s);
        return sw_err_wrap(err, rc, "admission");
    }
    char port[16];
    (void)snprintf(port, sizeof port, "%d", sw_serve_port(s->serve));
    sw_log(SW_LOG_INFO, "listening", "for", "admission", "port", port, NULL);
    *out = s;
    return 0;
}

int sw_admission_port(const struct sw_admission *s)
{
    return s ? sw_serve_port(s->serve) : 0;
}

void sw_admission_close(struct sw_admission *s)
{
    if (!s)
        return;
    while (s->pending) {
        struct pending *p = SW_LINKED(s->pending);
        sw_serve_text(p->reply, 503, "going down\n");
        pending_free(p);
    }
    sw_serve_close(s->serve);
    sw_projection_free(s->head);
    sw_projection_free(s->review);
    free(s->cert);
    free(s->key);
    free(s);
}
