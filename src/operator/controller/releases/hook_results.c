/* How hooks of an install or an upgrade ended: kept until the release is recorded, since their
 * objects may be deleted before. */
#include "operator/controller/releases/releases.h"
#include "operator/release/hooks.h"

static char *key_of(const struct resource *r, struct json_object *doc)
{
    const char *ns = sw_obj_namespace(doc);
    return sw_printf("%s %s/%s", sw_obj_kind(doc), *ns ? ns : resource_namespace(r),
                     sw_obj_name(doc));
}

void release_hook_observed(struct resource *r, struct json_object *object)
{
    const char *why;
    if (!object || !sw_obj_annotation(object, "helm.sh/hook") ||
        r->c->opts.releases == SW_RELEASES_NONE ||
        sw_release_hook_outcome(object, &why) == SW_HOOK_RUNS)
        return;
    SW_AUTO_CHARS *key = key_of(r, object);
    if (!releases_of(r)->hook_runs)
        releases_of(r)->hook_runs = json_object_new_object();
    sw_json_set(releases_of(r)->hook_runs, sw_release_run_of_object(object), key, NULL);
}
