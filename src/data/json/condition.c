#include "data/json/condition.h"

#include "base/base.h"
#include "data/json/path.h"
#include "data/text/time.h"

void sw_condition_add(struct json_object *list, struct json_object *old,
                      const struct sw_condition *condition)
{
    char now[21];
    struct json_object *before = sw_json_find_by(old, "type", condition->type);
    struct json_object *doc = json_object_new_object();
    const char *status = condition->is ? "True" : "False";
    const char *since = sw_json_str(before, "", "lastTransitionTime", NULL);
    if (!*since || !sw_streq(sw_json_str(before, "", "status", NULL), status))
        since = sw_time_rfc3339(condition->at_ms, now);
    sw_json_set_str(doc, condition->type, "type", NULL);
    sw_json_set_str(doc, status, "status", NULL);
    if (condition->generation)
        sw_json_set(doc, json_object_new_int64(*condition->generation), "observedGeneration", NULL);
    sw_json_set_str(doc, since, "lastTransitionTime", NULL);
    sw_json_set_str(doc, condition->reason, "reason", NULL);
    sw_json_set_str(doc, condition->message, "message", NULL);
    (void)json_object_array_add(list, doc);
}
