#pragma once
/* rules_impl: how rules are held and worked on, between the rules_*.c files.
 *
 *   rules_load.c   YAML to the structures below, with all that can be wrong with it (rules_read.c,
 *                  rules_clause.c)
 *   rules_text.c   templates: strings and bodies to documents
 *   rules_instance.c instances, and what each depends on
 *   rules_match.c  clauses: does an object match, which objects do
 *   rules_act.c    actions: what should be, compared with what is
 *   rules_ask.c    images, schedulers, pods: what the controllers ask
 *   rules_run.c    an instance's round: conditions, delays, actions
 *   rules_watch.c  changes to the instances that must be run again
 *   rules.c        life, and the objects of the start
 *
 * Each file calls those above it only. */
#include "emulator/rules/rules.h"
#include "emulator/store/document.h"

#include "base/loop.h"
#include "chart/template/template.h"
#include "data/jsonpath/jsonpath.h"
#include "data/selector/selector.h"

#include <regex.h>

struct lh_table;

/* ---- what a file says ---------------------------------------------------------------------------
 */

/** What is wanted at a path. */
struct want {
    char *path_text;
    struct sw_jsonpath *path;
    json_object *is, *is_not, *at_least, *at_most; /* counted; NULL: not asked */
    int exists;                                    /* 1, 0; -1: not asked */
    regex_t *re;
};

struct clause {
    char *api_version, *kind;
    char *name, *ns, *node;      /* patterns, or templates; NULL: any */
    json_object *labels;         /* a mapping, or a selector's text; NULL: any */
    struct sw_selector selector; /* of @labels where they hold no template */
    bool labels_vary;
    struct want *wants;
    size_t n_wants;
    int64_t min, max; /* how many objects, for `when` */
    char *as, *as_list;
};

enum each_type { EACH_NONE, EACH_IN, EACH_ITEMS, EACH_COUNT, EACH_OBJECTS };
struct each {
    enum each_type type;
    struct sw_jsonpath *path; /* IN */
    json_object *items;       /* ITEMS; counted */
    char *count;              /* COUNT */
    struct clause clause;     /* OBJECTS */
};

enum verb { VERB_PATCH, VERB_STATUS, VERB_APPLY, VERB_CREATE, VERB_DELETE };
struct action {
    enum verb verb;
    json_object *body; /* a tree with templates in it, or one text; NULL for delete */
    bool has_target;
    struct clause target; /* api_version, kind, ns, name */
    bool owned;
    bool now;        /* delete: without a grace period, dying or not */
    char *condition; /* `if` */
};

enum rule_type { RULE_RULE, RULE_OBJECTS, RULE_IMAGE, RULE_POD, RULE_SCHEDULER };
struct rule {
    enum rule_type type;
    char *name;  /* "file/name" */
    char *place; /* "file:line" */
    struct clause *on, *when;
    size_t n_on, n_when;
    struct each each;
    int64_t after_ms;
    struct action *actions, *otherwise;
    size_t n_actions, n_otherwise;
    json_object *body;       /* OBJECTS: a list, or a text */
    regex_t *match;          /* IMAGE, and the `image` of POD */
    bool exists;             /* IMAGE */
    struct sw_pod_plan plan; /* POD; plan.log is a template */
};

struct rule_set {
    struct rule *rules;
    size_t n, cap;
    char *platform;    /* rules of another platform are left out */
    bool real_cluster; /* and those of the other kind of cluster */
    struct sw_template_set *templates;
    struct lh_table *names; /* a template's text -> its name in the set; owns both */
};

void sw_rule_set_init(struct rule_set *set, const char *platform);
void sw_rule_set_done(struct rule_set *set);
/** Add a file's rules. @return 0 | SW_INVALID "file:line: path: reason" */
int sw_rule_set_load(struct rule_set *set, const char *file, const char *text, size_t len_bytes,
                     struct sw_err *err) SW_CHECKED;
/** Forget all rules but the first @n. */
void sw_rule_set_cut(struct rule_set *set, size_t n);
void sw_clause_done(struct clause *clause);

/* ---- at work ------------------------------------------------------------------------------------
 */

/** What templates of one round see. */
struct scope {
    struct sw_rules *rules;
    json_object *object; /* borrowed; NULL: none */
    json_object *each;   /* counted */
    bool has_each;
    size_t index;
    json_object *named; /* a map of what `as` and `asList` gave, counted; NULL: nothing yet */
    json_object *match; /* a list; counted */
    struct sw_arena *arena;
    struct sw_value root; /* made at first use; invalid before */
};
void sw_scope_init(struct scope *scope, struct sw_rules *rules, json_object *object);
void sw_scope_done(struct scope *scope);
/** Something that templates see has changed. */
void sw_scope_touch(struct scope *scope);
/** Keep @value (counted here) under @name. */
void sw_scope_name(struct scope *scope, const char *name, json_object *value);

bool sw_text_is_template(const char *text);
/** A string, rendered where it is a template; the caller's. */
int sw_text_render(struct scope *scope, const char *text, char **out, struct sw_err *err);
/** A body as a document: a tree with its strings rendered, or a text read as YAML (its first
 * document; @all: a list of all). */
int sw_body_render(struct scope *scope, json_object *body, bool all, json_object **out,
                   struct sw_err *err);

/** Somebody that looks at objects: an instance of a rule, an image that was asked for, a scheduler.
 */
struct instance {
    struct instance *next, **link; /* of its rule */
    struct sw_rules *rules;
    const struct rule *rule;
    char *ns, *name;    /* RULE: of its object */
    char *image;        /* IMAGE: the question */
    bool verdict;       /* IMAGE, SCHEDULER: the answer */
    bool held, matured; /* the conditions hold; and have for the rule's delay */
    bool dirty;
    struct sw_timer *timer; /* of the delay, or to try again; NULL: never needed */
    char **deps;            /* keys of what it looked at */
    size_t n_deps, cap_deps;
    int64_t window_ms; /* when the last writes began to be counted */
    int n_writes;
};

/** Notes what is looked at while an instance is evaluated. */
struct dependencies {
    char **keys;
    size_t n, cap;
};

struct sw_rules {
    struct sw_loop *loop;
    struct sw_rules_backend backend;
    struct sw_rules_opts opts; /* strings owned */
    struct rule_set set;
    struct instance **instances; /* by rule: the head of a list */
    struct lh_table *by_object;  /* "rule#ns/name" -> instance */
    struct lh_table *deps;       /* key -> struct dep */
    struct lh_table *kinds;      /* "group/Kind" -> struct kind_rules: which rules are `for` it */
    struct lh_table *images;     /* image -> instance */
    struct instance **dirty;
    size_t n_dirty, cap_dirty;
    struct sw_timer *turn;
    struct dependencies dependencies;
    json_object *pending;   /* objects of the start whose kinds are not served yet; NULL: none */
    struct sw_timer *later; /* to try them again */
    uint64_t rng;
    bool closing;
};

/** "group/Kind" of a document or clause; the caller's. */
char *sw_rules_kind_key(const char *api_version, const char *kind);

/* rules_match.c */
/** Does @doc match what the clause says of it (kind aside)? Strings are rendered in @scope. */
int sw_clause_matches(const struct clause *clause, struct scope *scope, json_object *doc,
                      struct sw_err *err);
/** The objects that match, in order; the caller's list of counted documents. What was looked at is
 * noted in rules->dependencies. @limit 0: all. */
int sw_clause_find(const struct clause *clause, struct scope *scope, size_t limit,
                   json_object **out, struct sw_err *err);
/** Whether each of the clauses has as many objects as it wants; binds `as`. @return 1, 0, or an
 * error */
int sw_clauses_hold(const struct clause *clauses, size_t n, struct scope *scope,
                    struct sw_err *err);

/* rules_instance.c */
void sw_instances_open(struct sw_rules *rules);
void sw_instances_close(struct sw_rules *rules);
struct instance *sw_instance_new(struct sw_rules *rules, const struct rule *rule);
void sw_instance_free(struct sw_rules *rules, struct instance *instance);
struct instance *sw_instance_of(struct sw_rules *rules, const struct rule *rule, const char *ns,
                                const char *name, bool make);
/** Look at it again after a while. */
void sw_instance_wait(struct instance *instance, int64_t in_ms);
void sw_instance_dirty(struct sw_rules *rules, struct instance *instance);
/** What rules->dependencies noted is what the instance depends on from now on. */
void sw_instance_depend(struct sw_rules *rules, struct instance *instance);
void sw_depend_on(struct sw_rules *rules, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** The instances that depend on this key are run in the next turn. */
void sw_depend_wake(struct sw_rules *rules, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* rules_watch.c */
void sw_watch_open(struct sw_rules *rules);
void sw_watch_close(struct sw_rules *rules);
/** Ask the backend for the changes of every kind that a rule names. */
void sw_watch_start(struct sw_rules *rules);

/* rules_run.c */
/** Look at an instance; it may be gone afterwards. */
void sw_instance_run(struct sw_rules *rules, struct instance *instance);

/* rules_act.c */
/** Make it so. @return 1: something was written, 0: it was so, or an error */
int sw_action_run(struct sw_rules *rules, const struct action *action, struct scope *scope,
                  struct sw_err *err);
/** Create or complete one object. @doc is borrowed. */
int sw_object_put(struct sw_rules *rules, json_object *doc, bool only_create, struct sw_err *err);
/** Is it there, with some of its status? */
bool sw_object_is_whole(struct sw_rules *rules, json_object *doc);

/* rules_run.c: used for objects, too */
typedef int sw_each_fn(struct scope *scope, void *arg, struct sw_err *err);
int sw_each_run(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                struct sw_err *err);

/* rules_ask.c */
void sw_image_run(struct sw_rules *rules, struct instance *instance);
void sw_scheduler_run(struct sw_rules *rules, struct instance *instance);
