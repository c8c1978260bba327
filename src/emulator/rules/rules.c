#include "emulator/rules/rules_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const struct sw_embedded sw_emulator_rules[];

enum { MAX_FILE = 4 << 20 };

/* ---- files --------------------------------------------------------------------------------------
 */

/* A file of rules. */
struct source {
    char *name;
    const struct sw_embedded *builtin; /* where @path is NULL */
    char *path;                        /* in the user's folder */
};

struct sources {
    struct source *items;
    size_t n, cap;
};

/* A later file of the same name replaces an earlier one. */
static struct source *add_source(struct sources *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (sw_streq(s->items[i].name, name))
            return &s->items[i];
    SW_GROW(s->items, s->n, s->cap);
    s->items[s->n] = (struct source){ .name = sw_strdup(name) };
    return &s->items[s->n++];
}

static int add_folder(struct sources *s, const char *folder, struct sw_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_NOTFOUND,
                          "rules folder '%s': %s", folder, strerror(errno));
    for (const struct dirent *e; (e = readdir(dir));)
        if (*e->d_name != '.' &&
            (sw_ends_with(e->d_name, ".yaml") || sw_ends_with(e->d_name, ".yml")))
            add_source(s, e->d_name)->path = sw_printf("%s/%s", folder, e->d_name);
    (void)closedir(dir);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

static int load(struct sw_rules *rules, const struct sw_rules_opts *opts, struct sw_err *err)
{
    struct sources s = { 0 };
    int rc = 0;
    for (const struct sw_embedded *f = sw_emulator_rules; !opts->no_builtin && f->name; f++)
        add_source(&s, f->name)->builtin = f;
    if (opts->dir)
        rc = add_folder(&s, opts->dir, err);
    if (s.n > 1)
        qsort(s.items, s.n, sizeof *s.items, by_name);
    for (size_t i = 0; rc == 0 && i < s.n; i++) {
        const struct source *f = &s.items[i];
        SW_AUTO_CHARS *text = NULL;
        size_t len = 0;
        if (f->builtin && !f->path) {
            rc = sw_rule_set_load(&rules->set, f->name, f->builtin->text, f->builtin->len_bytes,
                                  err);
            continue;
        }
        rc = sw_file_read(f->path, MAX_FILE, &text, &len, err);
        if (rc == 0)
            rc = sw_rule_set_load(&rules->set, f->path, text, len, err);
    }
    if (rc == 0 && opts->text)
        rc = sw_rule_set_load(&rules->set, "rules", opts->text, strlen(opts->text), err);
    for (size_t i = 0; i < s.n; i++) {
        free(s.items[i].name);
        free(s.items[i].path);
    }
    free(s.items);
    return rc;
}

/* Every trouble that is asked for is one of some file. */
static int check_troubles(const struct rule_set *set, const char *wanted, struct sw_err *err)
{
    for (const char *at = wanted; at && *at;) {
        size_t len = strcspn(at, ",");
        SW_AUTO_CHARS *name = sw_strndup(at, len), *all = NULL;
        if (!sw_json_get(set->all_troubles, name)) {
            json_object_object_foreach(set->all_troubles, known, value)
            {
                (void)value;
                sw_append(&all, "%s%s", all ? ", " : "", known);
            }
            return sw_err_set(err, SW_INVALID, "trouble '%s': expected one of %s", name, all);
        }
        at += len + (at[len] == ',');
    }
    return 0;
}

/* ---- the objects of the start -------------------------------------------------------------------
 */

/* Create an object, or keep it for later: its kind is not served yet, or its status is missing
 * since the backend creates it asynchronously. */
static int create_one(struct sw_rules *rules, json_object *doc, struct sw_err *err)
{
    SW_ERR(inner);
    int rc = sw_object_put(rules, doc, true, &inner);
    if (rc == SW_PENDING || (rc > 0 && !sw_object_is_whole(rules, doc))) {
        if (!rules->pending)
            rules->pending = json_object_new_array();
        json_object_array_add(rules->pending, json_object_get(doc));
        return 0;
    }
    return rc < 0 ? sw_err_move(err, &inner) : 0;
}

static int create_objects(struct scope *scope, void *arg, struct sw_err *err)
{
    const struct rule *rule = arg;
    SW_AUTO_JSON *list = NULL;
    int rc = sw_body_render(scope, rule->body, true, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = create_one(scope->rules, sw_json_at(list, i), err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", rule->place) : 0;
}

int sw_rules_create_objects(struct sw_rules *rules, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < rules->set.n; i++) {
        struct rule *rule = &rules->set.rules[i];
        struct scope scope;
        if (rule->type != RULE_OBJECTS)
            continue;
        sw_scope_init(&scope, rules, NULL);
        rc = sw_each_run(&rule->each, &scope, create_objects, rule, err);
        sw_scope_done(&scope);
        sw_depend_clear(rules);
    }
    return rc < 0 ? rc : 0;
}

static void create_pending(void *arg)
{
    struct sw_rules *rules = arg;
    json_object *list = SW_TAKE(rules->pending);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(err);
        json_object *doc = sw_json_at(list, i);
        if (create_one(rules, doc, &err) < 0)
            sw_log(SW_LOG_WARN, "emulator object not created", "kind", sw_obj_kind(doc), "name",
                   sw_obj_name(doc), "error", sw_err_text(&err), NULL);
    }
    sw_depend_clear(rules);
    json_object_put(list);
    if (rules->backend.objects_created)
        rules->backend.objects_created(rules->backend.self);
}

/* ---- open and close -----------------------------------------------------------------------------
 */

int sw_rules_open(struct sw_loop *loop, const struct sw_rules_backend *backend,
                  const struct sw_rules_opts *opts, struct sw_rules **out, struct sw_err *err)
{
    struct sw_rules *rules = sw_zalloc(1, sizeof *rules);
    rules->loop = loop;
    rules->backend = *backend;
    rules->opts = *opts;
    rules->opts.platform = sw_strdup(opts->platform ? opts->platform : "openshift");
    rules->opts.cloud = sw_strdup(opts->cloud ? opts->cloud : "");
    rules->opts.kube_version = sw_strdup(opts->kube_version);
    rules->opts.dir = rules->opts.text = rules->opts.troubles = NULL;
    rules->rng = opts->seed;
    sw_rule_set_init(&rules->set, rules->opts.platform, rules->opts.cloud);
    rules->set.real_cluster = opts->real_cluster;
    rules->set.troubles = opts->troubles;
    int rc = load(rules, opts, err);
    if (rc == 0)
        rc = check_troubles(&rules->set, opts->troubles, err);
    rules->set.troubles = NULL;
    sw_watch_open(rules);
    rules->images = lh_kchar_table_new(16, sw_table_free_key);
    rules->later = sw_timer_new(loop, create_pending, rules);
    if (rc < 0) {
        sw_rules_close(rules);
        return rc;
    }
    *out = rules;
    return 0;
}

void sw_rules_close(struct sw_rules *rules)
{
    if (!rules)
        return;
    rules->closing = true;
    sw_watch_close(rules);
    sw_timer_free(rules->later);
    json_object_put(rules->pending);
    lh_table_free(rules->images);
    sw_rule_set_done(&rules->set);
    free((char *)rules->opts.platform);
    free((char *)rules->opts.cloud);
    free((char *)rules->opts.kube_version);
    free(rules);
}
