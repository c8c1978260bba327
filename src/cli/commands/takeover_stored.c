/* Whether what is stored on a cluster is taken by slipway's definitions: checked as an API server
 * does. */
#include "cli/commands/takeover.h"
#include "data/data.h"
#include "emulator/schema/schema.h"
#include "emulator/store/status.h"

static void on_unknown(const char *path, void *arg)
{
    (void)json_object_array_add(arg, json_object_new_string(path));
}

bool takeover_accepts(struct json_object *schema, struct json_object *doc,
                      struct json_object *unknown, char **why)
{
    SW_AUTO_JSON *copy = sw_json_copy(doc);
    SW_FIELD_ERRORS(errors);
    sw_structural_prune(copy, schema, on_unknown, unknown);
    sw_structural_default(copy, schema);
    sw_structural_validate(copy, schema, "", &errors);
    for (size_t i = 0; i < errors.n; i++)
        sw_append(why, "%s%s: %s", i ? "; " : "", errors.items[i].field, errors.items[i].body);
    return errors.n == 0;
}
