#include "slicing/deviceplugin/broker/journal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/files.h"

enum { MAX_LIMITS = 256 };

static const char *const state_texts[] = { "making", "ready", "undoing" };
static const char *const step_texts[] = { "nothing", "intent", "instance", "made" };
static const char *const setting_texts[] = { "timeSlice", "exclusive", "mps" };

/* ---- writing -----------------------------------------------------------------------------------
 */

static struct json_object *slice_json(const struct dp_slice *s)
{
    struct json_object *doc = json_object_new_object();
    if (s->claim) {
        sw_json_set_str(doc, s->claim_ns, "claim", "namespace", NULL);
        sw_json_set_str(doc, s->claim, "claim", "name", NULL);
    }
    sw_json_set_str(doc, s->profile, "profile", NULL);
    sw_json_set_str(doc, s->gpu, "gpu", NULL);
    sw_json_set(doc, json_object_new_int(s->place.start), "start", NULL);
    sw_json_set(doc, json_object_new_int(s->place.size), "size", NULL);
    sw_json_set_str(doc, step_texts[s->step], "step", NULL);
    if (s->step >= DP_INSTANCE)
        sw_json_set(doc, json_object_new_int64(s->gi), "gi", NULL);
    if (s->step == DP_MADE)
        sw_json_set(doc, json_object_new_int64(s->ci), "ci", NULL);
    if (s->uuid)
        sw_json_set_str(doc, s->uuid, "uuid", NULL);
    return doc;
}

static void set_ref(struct json_object *doc, const char *key, const struct dp_ref *ref)
{
    sw_json_set_str(doc, ref->ns, key, "namespace", NULL);
    sw_json_set_str(doc, ref->name, key, "name", NULL);
    sw_json_set_str(doc, ref->uid, key, "uid", NULL);
}

/* Of a ResourceClaim. */
static void set_devices(struct json_object *doc, const struct dp_grant *grant)
{
    struct json_object *devices = sw_json_need_list(doc, "devices", NULL);
    for (size_t i = 0; i < grant->n_devices; i++) {
        const struct dp_device *d = &grant->devices[i];
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, d->request, "request", NULL);
        sw_json_set_str(entry, d->group, "group", NULL);
        sw_json_set_str(entry, d->name, "device", NULL);
        sw_json_set_str(entry, d->gpu, "gpu", NULL);
        if (d->slice != DP_NO_SLICE)
            sw_json_set(entry, json_object_new_int64((int64_t)d->slice), "slice", NULL);
        if (d->mps)
            sw_json_set(entry, json_object_new_boolean(true), "mps", NULL);
        json_object_array_add(devices, entry);
    }
}

static void set_mps(struct json_object *doc, const struct dp_mps *m)
{
    struct json_object *mps = sw_json_need_map(doc, "mps", NULL);
    if (m->threads >= 0)
        sw_json_set(mps, json_object_new_int(m->threads), "threads", NULL);
    if (m->multi_user)
        sw_json_set(mps, json_object_new_boolean(true), "multiUser", NULL);
    struct json_object *limits = sw_json_need_list(mps, "limits", NULL);
    for (size_t i = 0; i < m->n_limits; i++) {
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, m->limits[i].device, "device", NULL);
        sw_json_set(entry, json_object_new_int64(m->limits[i].mib), "mib", NULL);
        json_object_array_add(limits, entry);
    }
}

static void set_settings(struct json_object *doc, const struct dp_grant *grant)
{
    for (size_t i = 0; i < grant->n_settings; i++) {
        const struct dp_setting *s = &grant->settings[i];
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, setting_texts[s->kind], "kind", NULL);
        if (s->gpu)
            sw_json_set_str(entry, s->gpu, "gpu", NULL);
        sw_json_set(entry, json_object_new_int64(s->value), "value", NULL);
        sw_json_set_str(entry, step_texts[s->step], "step", NULL);
        json_object_array_add(sw_json_need_list(doc, "settings", NULL), entry);
        if (s->kind == DP_SET_MPS && !sw_json_get(doc, "mps"))
            set_mps(doc, &grant->mps);
    }
}

struct json_object *dp_record_make(const struct dp_grant *grant)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set(doc, json_object_new_int(1), "version", NULL);
    sw_json_set_str(doc, grant->id, "id", NULL);
    sw_json_set_str(doc, state_texts[grant->state], "state", NULL);
    sw_json_set_str(doc, grant->boot_id, "bootID", NULL);
    if (grant->claim.uid) {
        set_ref(doc, "resourceClaim", &grant->claim);
        set_devices(doc, grant);
        set_settings(doc, grant);
    } else {
        set_ref(doc, "pod", &grant->pod);
        sw_json_set_str(doc, grant->container, "container", NULL);
    }
    if (grant->cdi)
        sw_json_set_str(doc, grant->cdi, "cdi", NULL);
    struct json_object *slices = sw_json_need_list(doc, "slices", NULL);
    for (size_t i = 0; i < grant->n_slices; i++)
        json_object_array_add(slices, slice_json(&grant->slices[i]));
    struct json_object *served = sw_json_need_list(doc, "served", NULL);
    for (size_t i = 0; i < grant->n_served; i++) {
        const struct dp_served *s = &grant->served[i];
        struct json_object *entry = json_object_new_object();
        sw_json_set_str(entry, s->profile, "profile", NULL);
        struct json_object *ids = sw_json_need_list(entry, "ids", NULL);
        for (size_t k = 0; k < s->n_ids; k++)
            json_object_array_add(ids, json_object_new_string(s->ids[k]));
        json_object_array_add(served, entry);
    }
    return doc;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static int read_enum(struct json_object *doc, const char *key, const char *const *texts, size_t n,
                     unsigned *out, struct sw_err *err)
{
    const char *text = sw_json_str(doc, "", key, NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0) {
            *out = (unsigned)i;
            return 0;
        }
    return sw_err_set(err, SW_INVALID, "%s: '%s' is not known", key, text);
}

/* Names become parts of paths and of environments. */
static int read_name(struct json_object *doc, const char *key, char **out, struct sw_err *err)
{
    const char *text = sw_json_str(doc, "", key, NULL);
    const size_t len = strlen(text);
    bool ok = len > 0 && len <= 253 && text[0] != '.';
    for (const char *p = text; *p && ok; p++)
        ok = isalnum((unsigned char)*p) || strchr("-._+:", *p);
    if (!ok)
        return sw_err_set(err, SW_INVALID, "%s: '%.64s' is no name", key, text);
    *out = sw_strdup(text);
    return 0;
}

static int read_profile(struct json_object *doc, char out[static SW_MIG_NAME_LEN],
                        struct sw_err *err)
{
    const char *text = sw_json_str(doc, "", "profile", NULL);
    struct sw_mig_profile p;
    const int rc = sw_mig_profile_parse(text, strlen(text), &p, err);
    if (rc == 0)
        (void)sw_mig_profile_text(&p, out);
    return rc;
}

static int read_number(struct json_object *doc, const char *key, int64_t most, int64_t *out,
                       struct sw_err *err)
{
    const int64_t n = sw_json_int(doc, -1, key, NULL);
    if (n < 0 || n > most)
        return sw_err_set(err, SW_INVALID, "%s: expected 0 to %lld", key, (long long)most);
    *out = n;
    return 0;
}

/* @serves: it serves an AllocationClaim, which it names. */
static int read_slice(struct json_object *doc, bool serves, struct dp_slice *s, struct sw_err *err)
{
    int64_t start = 0, size = 0, gi = 0, ci = 0;
    unsigned step = 0;
    int rc = serves ? read_name(sw_json_get(doc, "claim"), "namespace", &s->claim_ns, err) : 0;
    if (rc == 0 && serves)
        rc = read_name(sw_json_get(doc, "claim"), "name", &s->claim, err);
    if (rc == 0)
        rc = read_name(doc, "gpu", &s->gpu, err);
    if (rc == 0)
        rc = read_profile(doc, s->profile, err);
    if (rc == 0)
        rc = read_number(doc, "start", SW_MIG_MAX_SLICES - 1, &start, err);
    if (rc == 0)
        rc = read_number(doc, "size", SW_MIG_MAX_SLICES, &size, err);
    if (rc == 0)
        rc = read_enum(doc, "step", step_texts, SW_COUNT(step_texts), &step, err);
    if (rc == 0 && step >= DP_INSTANCE)
        rc = read_number(doc, "gi", UINT32_MAX, &gi, err);
    if (rc == 0 && step == DP_MADE)
        rc = read_number(doc, "ci", UINT32_MAX, &ci, err);
    if (rc == 0 && (step == DP_MADE || sw_json_get(doc, "uuid")))
        rc = read_name(doc, "uuid", &s->uuid, err);
    s->place = (struct sw_mig_place){ (uint8_t)start, (uint8_t)size };
    s->step = (enum dp_slice_step)step;
    s->gi = (uint32_t)gi;
    s->ci = (uint32_t)ci;
    return rc;
}

static int read_served(struct json_object *list, struct dp_grant *g, struct sw_err *err)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *doc = sw_json_at(list, i), *ids = sw_json_get(doc, "ids");
        char profile[SW_MIG_NAME_LEN];
        const int rc = read_profile(doc, profile, err);
        const char *texts[SW_MIG_MAX_REQUESTS];
        const size_t n = sw_json_len(ids);
        if (rc < 0 || !json_object_is_type(ids, json_type_array) || n > SW_COUNT(texts) || i > 64)
            return sw_err_set(err, SW_INVALID, "served[%zu]: expected a profile and ids", i);
        for (size_t k = 0; k < n; k++) {
            texts[k] = json_object_get_string(sw_json_at(ids, k));
            if (!json_object_is_type(sw_json_at(ids, k), json_type_string))
                return sw_err_set(err, SW_INVALID, "served[%zu].ids[%zu]: no text", i, k);
        }
        dp_grant_serve(g, profile, texts, n);
    }
    return 0;
}

static int read_ref(struct json_object *doc, struct dp_ref *ref, struct sw_err *err)
{
    int rc = read_name(doc, "namespace", &ref->ns, err);
    if (rc == 0)
        rc = read_name(doc, "name", &ref->name, err);
    if (rc == 0)
        rc = read_name(doc, "uid", &ref->uid, err);
    return rc;
}

static int read_device(struct json_object *doc, struct dp_grant *g, struct sw_err *err)
{
    int64_t slice = 0;
    const bool has_slice = sw_json_get(doc, "slice") != NULL;
    SW_AUTO_CHARS *request = NULL, *group = NULL, *name = NULL, *gpu = NULL;
    int rc = read_name(doc, "request", &request, err);
    if (rc == 0)
        rc = read_name(doc, "group", &group, err);
    if (rc == 0)
        rc = read_name(doc, "device", &name, err);
    if (rc == 0)
        rc = read_name(doc, "gpu", &gpu, err);
    if (rc == 0 && has_slice)
        rc = read_number(doc, "slice", (int64_t)g->n_slices - 1, &slice, err);
    if (rc < 0)
        return rc;
    dp_grant_add_device(g, request, group, name, gpu, has_slice ? (size_t)slice : DP_NO_SLICE);
    g->devices[g->n_devices - 1].mps = sw_json_bool(doc, false, "mps", NULL);
    return 0;
}

static int read_mps(struct json_object *doc, struct dp_grant *g, struct sw_err *err)
{
    struct json_object *limits = sw_json_get(doc, "limits");
    int64_t threads = -1;
    int rc = sw_json_get(doc, "threads") ? read_number(doc, "threads", 100, &threads, err) : 0;
    if (rc == 0 && sw_json_len(limits) > MAX_LIMITS)
        rc = sw_err_set(err, SW_INVALID, "mps.limits: more than %d", MAX_LIMITS);
    g->mps.threads = (int)threads;
    g->mps.multi_user = sw_json_bool(doc, false, "multiUser", NULL);
    for (size_t i = 0; rc == 0 && i < sw_json_len(limits); i++) {
        struct json_object *limit = sw_json_at(limits, i);
        SW_AUTO_CHARS *device = NULL;
        int64_t mib = 0;
        rc = strcmp(sw_json_str(limit, "", "device", NULL), "*") == 0
                 ? (device = sw_strdup("*"), 0)
                 : read_name(limit, "device", &device, err);
        if (rc == 0)
            rc = read_number(limit, "mib", INT64_MAX, &mib, err);
        if (rc == 0)
            dp_grant_add_limit(g, device, mib);
        else
            (void)sw_err_wrap(err, rc, "mps.limits[%zu]", i);
    }
    return rc;
}

static int read_setting(struct json_object *doc, struct dp_grant *g, struct sw_err *err)
{
    unsigned kind = 0, step = 0;
    int64_t value = 0;
    SW_AUTO_CHARS *gpu = NULL;
    int rc = read_enum(doc, "kind", setting_texts, SW_COUNT(setting_texts), &kind, err);
    if (rc == 0 && kind != DP_SET_MPS)
        rc = read_name(doc, "gpu", &gpu, err);
    if (rc == 0)
        rc = read_number(doc, "value", 3, &value, err);
    if (rc == 0)
        rc = read_enum(doc, "step", step_texts, SW_COUNT(step_texts), &step, err);
    if (rc == 0 && (step == DP_INSTANCE || (g->state == DP_READY && step != DP_MADE)))
        rc = sw_err_set(err, SW_INVALID, "step: of a setting, '%s'", step_texts[step]);
    if (rc < 0)
        return rc;
    dp_grant_add_setting(g, (enum dp_setting_kind)kind, gpu, (unsigned)value);
    g->settings[g->n_settings - 1].step = (enum dp_slice_step)step;
    return 0;
}

/* A record without them is of a version that set nothing. */
static int read_settings(struct json_object *doc, struct dp_grant *g, struct sw_err *err)
{
    struct json_object *list = sw_json_get(doc, "settings");
    if (sw_json_len(list) > 2 * SW_MIG_MAX_REQUESTS)
        return sw_err_set(err, SW_INVALID, "settings: more than %d", 2 * SW_MIG_MAX_REQUESTS);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const int rc = read_setting(sw_json_at(list, i), g, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "settings[%zu]", i);
    }
    return read_mps(sw_json_get(doc, "mps"), g, err);
}

/* After its slices, which devices name. */
static int read_devices(struct json_object *list, struct dp_grant *g, struct sw_err *err)
{
    const size_t n = sw_json_len(list);
    if (!json_object_is_type(list, json_type_array) || !n || n > SW_MIG_MAX_REQUESTS)
        return sw_err_set(err, SW_INVALID, "devices: expected a list of 1 to %d",
                          SW_MIG_MAX_REQUESTS);
    for (size_t i = 0; i < n; i++) {
        const int rc = read_device(sw_json_at(list, i), g, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "devices[%zu]", i);
    }
    return 0;
}

/* Whom it is for. */
static int read_holder(struct json_object *doc, bool serves, struct dp_grant *g, struct sw_err *err)
{
    if (!serves)
        return read_ref(sw_json_get(doc, "resourceClaim"), &g->claim, err);
    int rc = read_name(doc, "container", &g->container, err);
    if (rc == 0 && sw_json_get(doc, "cdi"))
        rc = read_name(doc, "cdi", &g->cdi, err);
    return rc < 0 ? rc : read_ref(sw_json_get(doc, "pod"), &g->pod, err);
}

int dp_record_read(struct json_object *doc, struct dp_grant **out, struct sw_err *err)
{
    SW_AUTO(dp_grant) *g = dp_grant_new();
    const bool serves = !sw_json_get(doc, "resourceClaim");
    unsigned state = 0;
    if (sw_json_int(doc, 0, "version", NULL) != 1)
        return sw_err_set(err, SW_INVALID, "version: expected 1");
    int rc = read_name(doc, "id", &g->id, err);
    if (rc == 0)
        rc = read_enum(doc, "state", state_texts, SW_COUNT(state_texts), &state, err);
    g->state = (enum dp_grant_state)state;
    if (rc == 0)
        rc = read_name(doc, "bootID", &g->boot_id, err);
    if (rc == 0)
        rc = read_holder(doc, serves, g, err);
    struct json_object *list = sw_json_get(doc, "slices");
    const size_t n = sw_json_len(list);
    if (rc == 0 && (!json_object_is_type(list, json_type_array) || n < (serves ? 1 : 0) ||
                    n > SW_MIG_MAX_REQUESTS))
        rc = sw_err_set(err, SW_INVALID, "slices: expected a list of %d to %d", serves ? 1 : 0,
                        SW_MIG_MAX_REQUESTS);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = read_slice(sw_json_at(list, i), serves, dp_grant_add_slice(g), err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "slices[%zu]", i);
        /* of instances that DAS made the place alone is known */
        if (g->state == DP_READY && g->slices[i].step != DP_MADE &&
            !(g->cdi && g->slices[i].step == DP_INTENT))
            return sw_err_set(err, SW_INVALID, "slices[%zu].step: of a ready grant, not made", i);
    }
    if (rc == 0 && !serves)
        rc = read_devices(sw_json_get(doc, "devices"), g, err);
    if (rc == 0 && !serves)
        rc = read_settings(doc, g, err);
    if (rc == 0)
        rc = read_served(sw_json_get(doc, "served"), g, err);
    if (rc == 0)
        *out = SW_TAKE(g);
    return rc;
}

/* ---- files -------------------------------------------------------------------------------------
 */

char *dp_journal_file(const struct dp_grant *grant)
{
    return sw_printf("%s.json", grant->id);
}

int dp_journal_write(const char *dir, const struct dp_grant *grant, struct sw_err *err)
{
    SW_AUTO_JSON *doc = dp_record_make(grant);
    SW_AUTO_CHARS *name = dp_journal_file(grant);
    return dp_file_write(dir, name, doc, err);
}

int dp_journal_remove(const char *dir, const char *grant_id, struct sw_err *err)
{
    SW_AUTO_CHARS *name = sw_printf("%s.json", grant_id);
    return dp_file_remove(dir, name, err);
}

struct loading {
    const char *dir;
    void (*each)(struct dp_grant *grant, void *arg);
    void (*bad)(const char *path, const struct sw_err *err, void *arg);
    void *arg;
};

static void on_record(const char *name, struct json_object *doc, int rc, const struct sw_err *why,
                      void *arg)
{
    const struct loading *l = arg;
    SW_ERR(err);
    struct dp_grant *g = NULL;
    SW_AUTO_CHARS *path = sw_printf("%s/%s", l->dir, name);
    if (rc == 0) {
        rc = dp_record_read(doc, &g, &err);
        why = &err;
    }
    if (rc == 0 && !(sw_starts_with(name, g->id) && strlen(name) == strlen(g->id) + 5)) {
        dp_grant_free(g);
        rc = sw_err_set(&err, SW_INVALID, "id: not the file's name");
    }
    if (rc < 0)
        l->bad(path, why, l->arg);
    else
        l->each(g, l->arg);
}

int dp_journal_load(const char *dir, void (*each)(struct dp_grant *grant, void *arg),
                    void (*bad)(const char *path, const struct sw_err *err, void *arg), void *arg,
                    struct sw_err *err)
{
    struct loading l = { dir, each, bad, arg };
    const int rc = dp_dir_make(dir, err);
    return rc < 0 ? rc : dp_dir_each(dir, ".json", on_record, &l, err);
}
