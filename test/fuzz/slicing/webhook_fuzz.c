/* Any bytes as an AdmissionReview, and as what a connection receives: refused or answered, and what
 * is answered is JSON. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "net/serve/request.h"
#include "slicing/webhook/webhook.h"

static void as_review(const uint8_t *data, size_t size)
{
    const struct sw_webhook_policy policy = {
        .scheduler_name = "s",
        .runtime_class = "r",
        .keep_user_fields = size & 1,
        .strip_visible_devices = size & 2,
        .tolerate = size & 4 ? "*,a/b=c" : NULL,
        .env_from = size % 3,
        .excluded_namespaces = size & 8 ? "default,ns" : NULL,
    };
    SW_AUTO(sw_webhook_reader) *reader = sw_webhook_reader_new(&policy);
    struct sw_webhook_answer a;
    SW_ERR(err);
    if (sw_webhook_read(reader, (const char *)data, size, &a, &err) < 0)
        return;
    SW_AUTO_JSON *doc = NULL;
    if (sw_json_parse(a.text, a.len_bytes, NULL, &doc, &err) < 0 ||
        !sw_json_find(doc, "response", "uid", NULL))
        abort();
    struct sw_webhook_answer b;
    SW_AUTO(sw_webhook_reading) *reading = sw_webhook_reading_new(reader, (const char *)data, size);
    int rc;
    while ((rc = sw_webhook_reading_step(reading, &b, &err)) == SW_PENDING)
        ;
    if (rc < 0 || strcmp(a.text, b.text) != 0)
        abort();
    sw_webhook_answer_done(&b);
    sw_webhook_answer_done(&a);
}

/* In two pieces: what is said of the whole does not depend on how it came. */
static void as_request(const uint8_t *data, size_t size)
{
    char *bytes = sw_alloc(size + 1);
    memcpy(bytes, data, size);
    const struct sw_serve_limits limits = { .head = 1 << 14, .body = 1 << 16 };
    struct sw_serve_progress p = { 0 };
    struct sw_serve_request r;
    int rc = sw_serve_next(&p, bytes, size / 2, limits, &r);
    if (rc == 0)
        rc = sw_serve_next(&p, bytes, size, limits, &r);
    if (rc == 1 && (r.total_len > size || r.body + r.body_len > bytes + size || !r.path_len))
        abort();
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_review(data, size);
    as_request(data, size);
    return 0;
}
