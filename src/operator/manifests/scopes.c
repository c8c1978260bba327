#include "operator/manifests/scopes.h"

#include <string.h>

#include <json-c/json.h>

#include "base/base.h"
#include "data/json/path.h"

/* "<group>/<kind>"; heap */
static char *key_of(const char *group, size_t len, const char *kind)
{
    return sw_printf("%.*s/%s", (int)len, group, kind);
}

void sw_scopes_note(struct json_object **scopes, struct json_object *doc)
{
    if (!sw_streq(sw_obj_kind(doc), "CustomResourceDefinition"))
        return;
    const char *group = sw_json_str(doc, "", "spec", "group", NULL);
    SW_AUTO_CHARS *key = key_of(group, strlen(group),
                                sw_json_str(doc, "", "spec", "names", "kind", NULL));
    bool namespaced = sw_streq(sw_json_str(doc, "", "spec", "scope", NULL), "Namespaced");
    if (!*scopes)
        *scopes = json_object_new_object();
    (void)json_object_object_add(*scopes, key, json_object_new_boolean(namespaced));
}

bool sw_scopes_namespaced(struct json_object *scopes, struct json_object *doc)
{
    const char *api_version = sw_obj_api_version(doc);
    SW_AUTO_CHARS *key = key_of(api_version, strcspn(api_version, "/"), sw_obj_kind(doc));
    struct json_object *scope = sw_json_get(scopes, key);
    return scope ? json_object_get_boolean(scope) : *sw_obj_namespace(doc) != '\0';
}
