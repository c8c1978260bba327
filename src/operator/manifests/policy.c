/* Fields of a resource's spec about timeouts, deletion and rollback, which SRO does not have. Types
 * are checked by the schema on the server; what a schema cannot express is checked here. */
#include "operator/manifests/policy.h"

#include <json-c/json.h>

#include "data/data.h"
#include "data/text/time.h"
#include "operator/engine/upgrade/upgrade.h"
#include "operator/manifests/aicr_source.h"
#include "operator/manifests/overrides.h"
#include "operator/manifests/sharing.h"

static int read_timeouts(struct json_object *doc, struct sw_policy *out, struct sw_err *err)
{
    const char *text = sw_json_str(doc, NULL, "spec", "stateTimeout", NULL);
    int rc = text && *text ? sw_span_parse(text, &out->timeout_ms, err) : 0;
    if (rc < 0)
        return sw_err_wrap(err, rc, "spec.stateTimeout");
    out->timeouts = sw_json_find(doc, "spec", "stateTimeouts", NULL);
    if (!json_object_is_type(out->timeouts, json_type_object)) {
        out->timeouts = NULL;
        return 0;
    }
    json_object_object_foreach(out->timeouts, state, value)
    {
        int64_t ms;
        const char *span = json_object_get_string(value);
        rc = sw_span_parse(span ? span : "", &ms, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "spec.stateTimeouts.%s", state);
    }
    return 0;
}

int sw_policy_read(struct json_object *doc, struct sw_policy *out, struct sw_err *err)
{
    const char *deletion = sw_json_str(doc, "", "spec", "deletionPolicy", NULL);
    struct json_object *upgrades = sw_json_find(doc, "spec", "upgradePolicy", NULL);
    struct sw_upgrade_policy upgrade;
    *out = (struct sw_policy){ .rollback = sw_json_bool(doc, false, "spec", "rollback", NULL),
                               .orphan = sw_streq(deletion, "orphan") };
    if (*deletion && !out->orphan && !sw_streq(deletion, "delete"))
        return sw_err_set(err, SW_INVALID, "spec.deletionPolicy: '%s' is not one of delete, orphan",
                          deletion);
    int rc = upgrades ? sw_upgrade_policy_read(upgrades, &upgrade, err) : 0;
    return rc < 0 ? rc : read_timeouts(doc, out, err);
}

int64_t sw_policy_timeout(const struct sw_policy *policy, const char *name, const char *label,
                          const char *chart_name)
{
    const char *text = sw_json_str(policy->timeouts, NULL, name, NULL);
    int64_t ms = 0;
    if (!text && label)
        text = sw_json_str(policy->timeouts, NULL, label, NULL);
    if (!text && chart_name)
        text = sw_json_str(policy->timeouts, NULL, chart_name, NULL);
    return text && sw_span_parse(text, &ms, NULL) == 0 ? ms : 0;
}

int sw_spec_check(struct json_object *doc, struct sw_err *err)
{
    int rc = sw_aicr_source_check(doc, err);
    if (rc == 0)
        rc = sw_sharing_check(doc, err);
    return rc == 0 ? sw_overrides_check(doc, err) : rc;
}
