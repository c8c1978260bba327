#pragma once
/* slipway takeover --plan against the cluster of a test: what it prints, and that it writes
 * nothing. */
#include "run_child.h"
#include "run_left.h"

static bool is_planning;      /* nothing may be written */
static char *written;         /* what was, all the same */
static unsigned n_as_account; /* requests of a plan as another than whoever runs it */

/* Called with each request of the test's world. */
static inline void plan_observe(const struct sw_emu_request *req)
{
    bool read = sw_streq(req->verb, "get") || sw_streq(req->verb, "list") ||
                (req->resource && strstr(req->resource, "subjectaccessreviews")); /* a question */
    if (is_planning && !read && !strstr(req->path, "dryRun=All") && !written)
        written = sw_printf("%s %s", req->verb, req->path);
    n_as_account += is_planning && req->as_user;
}

/* The plan, the caller's: the document that it prints. @rights: --legacy-rights, or another option;
 * @flag: one more, or NULL. */
static inline struct json_object *plan_by(struct world *w, const char *rights, const char *flag,
                                          int exit_status)
{
    char config[] = "/tmp/run_takeover_test.XXXXXX";
    struct json_object *doc = NULL;
    SW_ERR(err);
    write_config(w, config);
    is_planning = true;
    n_as_account = 0;
    struct child c = START("takeover", "--plan", "-o", "json", "--kubeconfig", config,
                           (char *)rights, (char *)flag);
    SW_AUTO_CHARS *text = end_of(w, &c, exit_status);
    is_planning = false;
    (void)unlink(config);
    if (written)
        fail_msg("it writes: %s", written);
    const char *json = strchr(text, '{'); /* before it: what the server has warned of */
    if (!json || sw_json_parse(json, strlen(json), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", sw_err_text(&err), text);
    return doc;
}

/* As with SRO_COMPAT. */
static inline struct json_object *plan_with(struct world *w, const char *flag, int exit_status)
{
    return plan_by(w, "--legacy-rights", flag, exit_status);
}

static inline struct json_object *plan(struct world *w, int exit_status)
{
    return plan_with(w, NULL, exit_status);
}

/* The entry of an object, borrowed; @fails if it has another change. */
static inline struct json_object *entry_of(struct json_object *plan, const char *kind,
                                           const char *name, const char *change)
{
    struct json_object *all = sw_json_get(plan, "objects"), *found = NULL;
    for (size_t i = 0; i < sw_json_len(all); i++) {
        struct json_object *entry = sw_json_at(all, i);
        if (sw_streq(sw_json_str(entry, "", "kind", NULL), kind) &&
            sw_streq(sw_json_str(entry, "", "name", NULL), name))
            found = entry;
    }
    if (!sw_streq(sw_json_str(found, "none", "change", NULL), change))
        fail_msg("%s %s is not '%s': %s", kind, name, change, json_object_to_json_string(plan));
    return found;
}

static inline int count_of(struct json_object *plan, const char *change)
{
    return (int)sw_json_int(plan, 0, "counts", change, NULL);
}

/* An object has one entry: what is left alone is not told once more as nobody's. */
static inline void each_must_be_told_once(struct json_object *plan)
{
    struct json_object *all = sw_json_get(plan, "objects");
    SW_AUTO_JSON *told = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(all); i++) {
        struct json_object *entry = sw_json_at(all, i);
        SW_AUTO_CHARS *key = sw_printf("%s %s/%s", sw_json_str(entry, "", "kind", NULL),
                                       sw_json_str(entry, "", "namespace", NULL),
                                       sw_json_str(entry, "", "name", NULL));
        if (sw_json_get(told, key))
            fail_msg("%s is told twice: %s", key, json_object_to_json_string(plan));
        (void)json_object_object_add(told, key, json_object_new_boolean(true));
    }
}
