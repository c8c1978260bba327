/* One record of a release, and the ConfigMap or Secret that it is in.
 * Source: Helm 3's storage drivers (helm.sh/helm/v3/pkg/storage/driver); SRO kept them so. */
#include "operator/controller/releases/releases.h"

#include <inttypes.h>
#include <string.h>

/* ---- the release -------------------------------------------------------------------------------
 */

static struct json_object *info_of(const struct resource *r, const struct release_head *head)
{
    char now[21];
    bool deployed = sw_streq(head->status, "deployed");
    struct json_object *info = json_object_new_object();
    sw_time_rfc3339(sw_loop_wall_ms(r->c->loop), now);
    sw_json_set_str(info, sw_json_str(r->seen, now, "metadata", "creationTimestamp", NULL),
                    "first_deployed", NULL);
    sw_json_set_str(info, now, "last_deployed", NULL);
    sw_json_set_str(info, "", "deleted", NULL);
    sw_json_set_str(info,
                    sw_streq(head->status, "pending-install")   ? "Initial install underway"
                    : sw_streq(head->status, "pending-upgrade") ? "Preparing upgrade"
                    : !deployed                                 ? "Release failed"
                    : head->version > 1                         ? "Upgrade complete"
                                                                : "Install complete",
                    "description", NULL);
    sw_json_set_str(info, head->status, "status", NULL);
    return info;
}

struct json_object *release_begun(const struct resource *r, const struct release_head *head)
{
    struct json_object *release = json_object_new_object();
    sw_json_set_str(release, head->name, "name", NULL);
    sw_json_set(release, info_of(r, head), "info", NULL);
    sw_json_set(release, json_object_new_int64(head->version), "version", NULL);
    sw_json_set_str(release, head->namespace, "namespace", NULL);
    return release;
}

/* What the resource says besides its recipe, the values and whether it is walked at all; the
 * caller's. */
static struct json_object *rest_of_spec(const struct resource *r)
{
    struct json_object *rest = sw_json_copy(sw_json_find(r->seen, "spec", NULL));
    (void)sw_json_del(rest, "chart", NULL);
    (void)sw_json_del(rest, "set", NULL);
    (void)sw_json_del(rest, "managementState", NULL);
    return rest ? rest : json_object_new_object();
}

/* SW_RELEASE_ORIGIN of the revision of now; heap. */
static char *origin_of(const struct resource *r)
{
    SW_AUTO_JSON *origin = json_object_new_object();
    SW_AUTO_JSON *chart = sw_json_copy(sw_json_find(r->seen, "spec", "chart", NULL));
    struct json_object *set = sw_json_find(r->seen, "spec", "set", NULL);
    int64_t generation = sw_json_int(r->seen, 0, "metadata", "generation", NULL);
    sw_json_set(origin, json_object_new_int64(generation), "generation", NULL);
    if (r->written_by)
        sw_json_set_str(origin, r->written_by, "by", NULL);
    if (json_object_is_type(chart, json_type_object)) {
        (void)sw_json_del(chart, "repository", "username", NULL);
        (void)sw_json_del(chart, "repository", "password", NULL);
        sw_json_set(origin, SW_TAKE(chart), "chart", NULL);
    }
    if (set && !sw_json_equal(set, sw_json_find(r->doc, "spec", "set", NULL)))
        sw_json_set(origin, sw_json_copy(set), "set", NULL);
    sw_json_set(origin, rest_of_spec(r), "spec", NULL);
    return sw_json_text(origin, SW_JSON_SORTED, NULL);
}

struct release_head release_head(const struct release_work *w)
{
    struct resource *r = w->r;
    return (struct release_head){ r->name, resource_namespace(r), w->status, releases_of(r)->digest,
                                  w->version };
}

int release_make(struct release_work *w, char **packed, char content[static SW_SHA256_HEX],
                 struct sw_err *err)
{
    struct resource *r = w->r;
    if (!w->release) { /* once: its times are those of the first try */
        struct release_head head = release_head(w);
        w->release = release_begun(r, &head);
        SW_AUTO_CHARS *origin = origin_of(r);
        sw_json_set(w->release, sw_json_copy(sw_json_find(r->doc, "spec", "set", NULL)), "config",
                    NULL);
        sw_json_set_str(w->release, origin, "chart", "metadata", "annotations", SW_RELEASE_ORIGIN,
                        NULL);
    }
    SW_AUTO_JSON *values = resource_values(r, NULL);
    struct sw_render_env env = resource_render_env(r, -1, values, w->lookups);
    return sw_renderer_record(r->renderer, lookups_wait(w->lookups), &env, NULL, w->release,
                              releases_of(r)->hook_runs, packed, content, err);
}

int release_check_size(const char *packed, struct sw_err *err)
{
    size_t len = strlen(packed);
    return len <= SW_RELEASE_MAX_BYTES
               ? 0
               : sw_err_set(err, SW_INVALID,
                            "the release is too large to be recorded: %zu bytes "
                            "packed, an object takes %d",
                            len, (int)SW_RELEASE_MAX_BYTES);
}

/* ---- its object --------------------------------------------------------------------------------
 */

struct json_object *release_object(const struct resource *r, const struct release_head *head,
                                   const char *packed)
{
    const struct sw_kind *kind = records_kind(r);
    bool in_secret = kind && sw_streq(kind->kind, "Secret");
    char salt[SW_RECORD_SALT_HEX];
    struct json_object *doc = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("sh.helm.release.v1.%s.v%" PRId64, head->name, head->version);
    SW_AUTO_CHARS *version = sw_printf("%" PRId64, head->version);
    SW_AUTO_CHARS *now = sw_printf("%" PRId64, sw_loop_wall_ms(r->c->loop) / 1000);
    const char *const labels[][2] = { { "owner", "helm" },        { "name", head->name },
                                      { "status", head->status }, { "version", version },
                                      { "modifiedAt", now },      { DIGEST_LABEL, head->digest } };
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, in_secret ? "Secret" : "ConfigMap", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, head->namespace, "metadata", "namespace", NULL);
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
