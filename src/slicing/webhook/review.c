/* From bytes to bytes: of an AdmissionReview only the fields that the mutation reads are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/webhook/webhook.h"

enum { STEP_BYTES = 64 * 1024 }; /* a quarter of a millisecond, where it is all brackets */

#define CONTAINER(list)                                                                            \
    "request.object.spec." list ".resources.limits",                                               \
        "request.object.spec." list ".resources.requests", "request.object.spec." list ".envFrom"
#define ENV(list)                                                                                  \
    "request.object.spec." list ".env.name", "request.object.spec." list ".env.value",             \
        "request.object.spec." list ".env.valueFrom.-" /* whether it is there */

/* Each costs time for every pod: no more than the mutation asks for. */
static const char *const fields[] = {
    "apiVersion",
    "kind",
    "request.uid",
    "request.operation",
    "request.subResource",
    "request.kind.group",
    "request.kind.kind",
    "request.namespace",
    "request.object.kind",
    "request.object.metadata.name",
    "request.object.metadata.generateName",
    "request.object.spec.schedulerName",
    "request.object.spec.runtimeClassName",
    "request.object.spec.ephemeralContainers.name",
    "request.oldObject.spec.ephemeralContainers.name",
    CONTAINER("containers"),
    CONTAINER("initContainers"),
    CONTAINER("ephemeralContainers"),
};
/* Only where it can matter: may_set_devices(). */
static const char *const env_fields[] = { ENV("containers"), ENV("initContainers"),
                                          ENV("ephemeralContainers") };

struct sw_webhook_reader {
    const struct sw_webhook_policy *policy;
    struct sw_projection *with_env, *without_env;
};

static struct sw_projection *compile(bool env, bool tolerate)
{
    const char *wanted[SW_COUNT(fields) + SW_COUNT(env_fields) + 1];
    struct sw_projection *projection;
    size_t n = SW_COUNT(fields);
    memcpy(wanted, fields, sizeof fields);
    for (size_t i = 0; env && i < SW_COUNT(env_fields); i++)
        wanted[n++] = env_fields[i];
    if (tolerate)
        wanted[n++] = "request.object.spec.tolerations";
    if (sw_projection_compile(wanted, n, &projection, NULL) < 0)
        abort(); /* the paths are constants */
    return projection;
}

struct sw_webhook_reader *sw_webhook_reader_new(const struct sw_webhook_policy *policy)
{
    struct sw_webhook_reader *r = sw_zalloc(1, sizeof *r);
    const bool tolerate = policy->tolerate && *policy->tolerate;
    r->policy = policy;
    r->with_env = compile(true, tolerate);
    r->without_env = compile(false, tolerate);
    return r;
}

void sw_webhook_reader_free(struct sw_webhook_reader *reader)
{
    if (!reader)
        return;
    sw_projection_free(reader->with_env);
    sw_projection_free(reader->without_env);
    free(reader);
}

void sw_webhook_answer_done(struct sw_webhook_answer *answer)
{
    free(answer->text);
    free(answer->pod);
    free(answer->reason);
    *answer = (struct sw_webhook_answer){ 0 };
}

/* Of a container's variables only NVIDIA_VISIBLE_DEVICES is read. Reading them all is the most
 * of the work, and most pods do not have it. A letter of its name could be written as \u and
 * four digits. */
static bool may_set_devices(const char *body, size_t len_bytes)
{
    static const char prefix[] = "NVIDIA";
    const size_t n = sizeof prefix - 1;
    const char *end = body + len_bytes, *p;
    for (p = body; (p = memchr(p, '\\', (size_t)(end - p))); p++)
        if (end - p > 1 && p[1] == 'u')
            return true;
        else if (end - p > 1)
            p++; /* an escaped backslash begins nothing */
    for (p = body; (p = memchr(p, '_', (size_t)(end - p))); p++)
        if ((size_t)(p - body) >= n && memcmp(p - n, prefix, n) == 0)
            return true;
    return false;
}

static const struct sw_projection *fields_for(const struct sw_webhook_reader *reader,
                                              const char *body, size_t len_bytes)
{
    return may_set_devices(body, len_bytes) ? reader->with_env : reader->without_env;
}

static int answer(const struct sw_webhook_reader *reader, struct json_object *review,
                  struct sw_webhook_answer *out, struct sw_err *err)
{
    SW_AUTO_JSON *response = NULL;
    enum sw_webhook_outcome outcome;
    const int rc = sw_webhook_mutate(reader->policy, review, &response, &outcome, err);
    if (rc < 0)
        return rc;
    *out = (struct sw_webhook_answer){ .outcome = outcome };
    out->text = sw_json_text(response, SW_JSON_PLAIN, &out->len_bytes);
    if (outcome != SW_WEBHOOK_UNCHANGED) {
        struct json_object *request = sw_json_get(review, "request");
        const char *name = sw_json_str(request, "", "object", "metadata", "name", NULL);
        const char *prefix = sw_json_str(request, "", "object", "metadata", "generateName", NULL);
        out->pod = sw_printf("%s/%s%s", sw_json_str(request, "", "namespace", NULL),
                             *name ? name : prefix, *name ? "" : "*");
    }
    if (outcome == SW_WEBHOOK_DENIED)
        out->reason = sw_strdup(sw_json_str(response, "", "response", "status", "message", NULL));
    return 0;
}

int sw_webhook_read(const struct sw_webhook_reader *reader, const char *body, size_t len_bytes,
                    struct sw_webhook_answer *out, struct sw_err *err)
{
    SW_AUTO_JSON *review = NULL;
    const struct sw_piece whole = { body, len_bytes };
    const int rc = sw_stream_read_object(fields_for(reader, body, len_bytes), &whole, 1, &review,
                                         err);
    return rc < 0 ? rc : answer(reader, review, out, err);
}

/* ---- by pieces ---------------------------------------------------------------------------------
 */

struct sw_webhook_reading {
    const struct sw_webhook_reader *reader;
    const char *body;
    size_t len, at;
    struct sw_object_stream *stream;
};

struct sw_webhook_reading *sw_webhook_reading_new(const struct sw_webhook_reader *reader,
                                                  const char *body, size_t len_bytes)
{
    struct sw_webhook_reading *r = sw_zalloc(1, sizeof *r);
    r->reader = reader;
    r->body = body;
    r->len = len_bytes;
    r->stream = sw_object_stream_new(fields_for(reader, body, len_bytes));
    return r;
}

void sw_webhook_reading_free(struct sw_webhook_reading *reading)
{
    if (!reading)
        return;
    sw_object_stream_free(reading->stream);
    free(reading);
}

int sw_webhook_reading_step(struct sw_webhook_reading *r, struct sw_webhook_answer *out,
                            struct sw_err *err)
{
    SW_AUTO_JSON *review = NULL;
    const size_t left = r->len - r->at, n = left < STEP_BYTES ? left : STEP_BYTES;
    int rc = sw_object_stream_feed(r->stream, r->body + r->at, n, err);
    r->at += n;
    if (rc == 0 && r->at < r->len)
        return SW_PENDING;
    if (rc == 0)
        rc = sw_object_stream_end(r->stream, &review, err);
    return rc < 0 ? rc : answer(r->reader, review, out, err);
}
