/* Whatever a server answers: a Status, a discovery document, none of them. The first byte says as
 * what it is taken. */
#include "base/base.h"
#include "data/data.h"
#include "kube/internal.h"

#include <json-c/json.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_as_status(const char *text, size_t len, int http_status)
{
    SW_ERR(err);
    const char *reason;
    SW_AUTO_JSON *status = kube_status_parse(text, len);
    int code = kube_answer_code(http_status, status, &reason);
    kube_answer_error(http_status, status, text, len, code, &err);
}

static void take_as_discovery(struct json_object *doc)
{
    SW_ERR(err);
    bool with_kinds;
    struct sw_kube_kinds *kinds = kube_kinds_new();
    (void)kube_kinds_learn_groups(kinds, true, doc, &with_kinds, &err);
    (void)kube_kinds_learn_groups(kinds, false, doc, &with_kinds, &err);
    kube_kinds_learn_group(kinds, "apps", doc);
    (void)kube_kinds_learn_version(kinds, "apps/v1", doc, &err);
    (void)kube_kinds_learn_version(kinds, "apps/v1", NULL, &err);
    (void)kube_kinds_learn_version(kinds, "v1", doc, &err);
    kube_kinds_explain(kinds, "apps/v1", "Deployment", &err);
    for (size_t i = 0; kube_kinds_version_at(kinds, i); i++)
        ;
    kube_kinds_free(kinds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = { 200, 400, 403, 404, 409, 410, 429, 500, 503 };
    SW_AUTO_JSON *doc = NULL;
    if (!size)
        return 0;
    const char *text = (const char *)data + 1;
    take_as_status(text, size - 1, statuses[data[0] % SW_COUNT(statuses)]);
    if (sw_json_parse(text, size - 1, NULL, &doc, NULL) == 0)
        take_as_discovery(doc);
    return 0;
}
