/* One record of a release, and the ConfigMap or Secret that it is in.
 * Source: Helm 3's storage drivers (helm.sh/helm/v3/pkg/storage/driver); SRO kept them so. */
#include "operator/controller/releases/releases.h"

#include <inttypes.h>

/* ---- the release -------------------------------------------------------------------------------
 */

static struct json_object *info_of(const struct release_work *w)
{
    char now[21];
    struct resource *r = w->r;
    bool deployed = sw_streq(w->status, "deployed");
    struct json_object *info = json_object_new_object();
    sw_time_rfc3339(sw_loop_wall_ms(r->c->loop), now);
    sw_json_set_str(info, sw_json_str(r->seen, now, "metadata", "creationTimestamp", NULL),
                    "first_deployed", NULL);
    sw_json_set_str(info, now, "last_deployed", NULL);
    sw_json_set_str(info, "", "deleted", NULL);
    sw_json_set_str(info,
                    sw_streq(w->status, "pending-install")   ? "Initial install underway"
                    : sw_streq(w->status, "pending-upgrade") ? "Preparing upgrade"
                    : !deployed                              ? "Release failed"
                    : w->version > 1                         ? "Upgrade complete"
                                                             : "Install complete",
                    "description", NULL);
    sw_json_set_str(info, w->status, "status", NULL);
    return info;
}

int release_make(struct release_work *w, char **packed, char content[static SW_SHA256_HEX],
                 struct sw_err *err)
{
    struct resource *r = w->r;
    if (!w->release) { /* once: its times are those of the first try */
        w->release = json_object_new_object();
        sw_json_set_str(w->release, r->name, "name", NULL);
        sw_json_set(w->release, info_of(w), "info", NULL);
        sw_json_set(w->release, sw_json_copy(sw_json_find(r->doc, "spec", "set", NULL)), "config",
                    NULL);
        sw_json_set(w->release, json_object_new_int64(w->version), "version", NULL);
        sw_json_set_str(w->release, resource_namespace(r), "namespace", NULL);
    }
    SW_AUTO_JSON *values = resource_values(r, NULL);
    struct sw_render_env env = resource_render_env(r, values, w->lookups);
    return sw_renderer_record(r->renderer, lookups_wait(w->lookups), &env, w->release,
                              releases_of(r)->hook_runs, packed, content, err);
}

/* ---- its object --------------------------------------------------------------------------------
 */

struct json_object *release_object(const struct release_work *w, const char *packed)
{
    struct resource *r = w->r;
    const struct sw_kind *kind = records_kind(r);
    bool in_secret = kind && sw_streq(kind->kind, "Secret");
    char salt[SW_RECORD_SALT_HEX];
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("sh.helm.release.v1.%s.v%" PRId64, r->name, w->version);
    SW_AUTO_CHARS *version = sw_printf("%" PRId64, w->version);
    SW_AUTO_CHARS *now = sw_printf("%" PRId64, sw_loop_wall_ms(r->c->loop) / 1000);
    const char *const labels[][2] = {
        { "owner", "helm" },    { "name", r->name },   { "status", w->status },
        { "version", version }, { "modifiedAt", now }, { DIGEST_LABEL, releases_of(r)->digest }
    };
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, in_secret ? "Secret" : "ConfigMap", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, resource_namespace(r), "metadata", "namespace", NULL);
    for (size_t i = 0; i < SW_COUNT(labels); i++)
        sw_json_set_str(doc, labels[i][1], "metadata", "labels", labels[i][0], NULL);
    sw_record_salt(salt);
    sw_json_set_str(doc, salt, "metadata", "annotations", SW_RECORD_SALT, NULL);
    sw_json_set(doc, resource_as_owner(r), "metadata", "ownerReferences", NULL);
    if (in_secret)
        sw_json_set_str(doc, "helm.sh/release.v1", "type", NULL);
    sw_json_set(doc, sw_release_data(in_secret, packed), "data", NULL);
    return doc;
}
