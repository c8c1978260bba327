#include "emulator/rules/rules_internal.h"

#include <dirent.h>
#include <errno.h>
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

extern const struct sw_embedded sw_emulator_rules[];

enum { MAX_FILE = 4 << 20 };

/* ---- files --------------------------------------------------------------------------------------
 */

/* A file of rules: built in, or in the user's folder. */
struct source {
    char *name;
    const char *text; /* built in; NULL: read @path */
    size_t len_bytes;
    char *path;
};

struct sources {
    struct source *items;
    size_t n, cap;
};

static void sources_done(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].name);
        free(s->items[i].path);
    }
    free(s->items);
}

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

static void add_builtin(struct sources *s)
{
    for (const struct sw_embedded *f = sw_emulator_rules; f->name; f++) {
        struct source *source = add_source(s, f->name);
        source->text = f->text;
        source->len_bytes = f->len_bytes;
    }
}

static int add_folder(struct sources *s, const char *folder, struct sw_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_NOTFOUND,
                          "rules folder '%s': %s", folder, strerror(errno));
    for (const struct dirent *e; (e = readdir(dir));) {
        if (*e->d_name == '.' ||
            !(sw_ends_with(e->d_name, ".yaml") || sw_ends_with(e->d_name, ".yml")))
            continue;
        struct source *source = add_source(s, e->d_name);
        source->text = NULL;
        source->path = sw_printf("%s/%s", folder, e->d_name);
    }
    (void)closedir(dir);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

static int load_source(struct rule_set *set, const struct source *source, struct sw_err *err)
{
    if (!source->path)
        return sw_rule_set_load(set, source->name, source->text, source->len_bytes, err);
    char *text = NULL;
    size_t len = 0;
    int rc = sw_file_read(source->path, MAX_FILE, &text, &len, err);
    if (rc == 0)
        rc = sw_rule_set_load(set, source->path, text, len, err);
    free(text);
    return rc;
}

static int load(struct sw_rules *rules, const struct sw_rules_opts *opts, struct sw_err *err)
{
    struct sources s = { 0 };
    int rc = 0;
    if (!opts->no_builtin)
        add_builtin(&s);
    if (opts->dir)
        rc = add_folder(&s, opts->dir, err);
    if (s.n > 1)
        qsort(s.items, s.n, sizeof *s.items, by_name);
    for (size_t i = 0; rc == 0 && i < s.n; i++)
        rc = load_source(&rules->set, &s.items[i], err);
    if (rc == 0 && opts->text)
        rc = sw_rule_set_load(&rules->set, "rules", opts->text, strlen(opts->text), err);
    sources_done(&s);
    return rc;
}

int sw_rules_check(const char *file, const char *text, size_t len_bytes, struct sw_err *err)
{
    struct rule_set set;
    sw_rule_set_init(&set, NULL);
    int rc = sw_rule_set_load(&set, file, text, len_bytes, err);
    sw_rule_set_done(&set);
    return rc;
}

/* ---- the objects of the start -------------------------------------------------------------------
 */

struct creation {
    struct sw_rules *rules;
    const struct rule *rule;
};

/* An object of a kind that is not served yet waits for its CRD; one that was only asked for, for
 * the answer. */
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
    const struct creation *c = arg;
    json_object *list = NULL;
    int rc = sw_body_render(scope, c->rule->body, true, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++)
        rc = create_one(c->rules, sw_json_at(list, i), err);
    json_object_put(list);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", c->rule->place) : 0;
}

static void forget_dependencies(struct sw_rules *rules)
{
    for (size_t i = 0; i < rules->dependencies.n; i++)
        free(rules->dependencies.keys[i]);
    rules->dependencies.n = 0;
}

int sw_rules_create_objects(struct sw_rules *rules, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < rules->set.n; i++) {
        struct creation c = { rules, &rules->set.rules[i] };
        struct scope scope;
        if (c.rule->type != RULE_OBJECTS)
            continue;
        sw_scope_init(&scope, rules, NULL);
        rc = sw_each_run(&c.rule->each, &scope, create_objects, &c, err);
        sw_scope_done(&scope);
        forget_dependencies(rules);
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
    forget_dependencies(rules);
    json_object_put(list);
    if (rules->backend.begun)
        rules->backend.begun(rules->backend.self);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

static void free_key(struct lh_entry *entry)
{
    free(lh_entry_k(entry));
}

int sw_rules_open(struct sw_loop *loop, const struct sw_rules_backend *backend,
                  const struct sw_rules_opts *opts, struct sw_rules **out, struct sw_err *err)
{
    struct sw_rules *rules = sw_zalloc(1, sizeof *rules);
    rules->loop = loop;
    rules->backend = *backend;
    rules->opts = *opts;
    rules->opts.platform = sw_strdup(opts->platform ? opts->platform : "openshift");
    rules->opts.kube_version = sw_strdup(opts->kube_version ? opts->kube_version : "1.29");
    rules->opts.dir = rules->opts.text = NULL;
    rules->rng = opts->seed;
    sw_rule_set_init(&rules->set, rules->opts.platform);
    rules->set.real_cluster = opts->real_cluster;
    int rc = load(rules, opts, err);
    sw_watch_open(rules);
    rules->images = lh_kchar_table_new(16, free_key);
    rules->later = sw_timer_new(loop, create_pending, rules);
    if (rc < 0) {
        sw_rules_close(rules);
        return rc;
    }
    *out = rules;
    return 0;
}

void sw_rules_start(struct sw_rules *rules)
{
    sw_watch_start(rules);
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
    free((char *)rules->opts.kube_version);
    free(rules);
}
