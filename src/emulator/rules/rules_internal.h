#pragma once
/* rules_impl: the structures of rules and of the instances that carry them out, between the
 * rules_*.c files.
 *
 *   rules_load.c   YAML to the structures below, with errors for all that is invalid (rules_read.c,
 *                  rules_clause.c)
 *   rules_text.c   templates: strings and bodies to documents
 *   rules_instance.c instances, and what each depends on
 *   rules_match.c  clauses: whether an object matches, which objects match
 *   rules_act.c    actions: compare the cluster with what it should be, and write the difference
 *   rules_ask.c    images, schedulers, pods: what the controllers ask for
 *   rules_run.c    one run of an instance: conditions, delays, actions
 *   rules_watch.c  from changes to the instances that must run again
 *   rules.c        files, and the objects of the start
 *
 * Each file calls those above it only. */
#include "emulator/rules/rules.h"
#include "emulator/store/document.h"

#include "base/loop.h"
#include "chart/template/template.h"
#include "data/json/table.h"
#include "data/jsonpath/jsonpath.h"
#include "data/selector/selector.h"

#include <regex.h>

/* ---- a file's contents --------------------------------------------------------------------------
 */

/** A condition of `where`: what the values at a path must be. */
struct want {
    struct sw_jsonpath *path;
    json_object *is, *is_not, *at_least, *at_most; /* counted; NULL: any */
    int exists;                                    /* 1, 0; -1: either */
    regex_t *re;                                   /* owned; NULL: any */
};

/** A description of objects: a kind, and what their names, labels and values must be. Zero is
 * empty; sw_clause_done() frees it. */
struct clause {
    char *api_version, *kind;
    char *name, *ns, *node;      /* patterns, or templates; NULL: any */
    json_object *labels;         /* a mapping, or a selector's text; counted; NULL: any */
    struct sw_selector selector; /* of @labels where they contain no template */
    bool labels_vary;            /* @labels contain a template */
    struct want *wants;
    size_t n_wants;
    struct sw_jsonpath **fields; /* `when`: all that the rule reads of the objects, or none: all */
    size_t n_fields;
    int64_t min, max;   /* how many objects must match, for `when` */
    char *as, *as_list; /* names of the first match, and of the list of all, in templates */
};

/** The variants of `each`. */
enum each_type { EACH_NONE, EACH_IN, EACH_ITEMS, EACH_COUNT, EACH_OBJECTS };
/** For what a rule's actions are repeated. */
struct each {
    enum each_type type;
    struct sw_jsonpath *path; /* IN */
    json_object *items;       /* ITEMS; counted */
    char *count;              /* COUNT */
    struct clause clause;     /* OBJECTS */
};

/** What an action does. */
enum verb { VERB_NONE, VERB_PATCH, VERB_STATUS, VERB_APPLY, VERB_CREATE, VERB_DELETE };
/** One action of `do` or `otherwise`. */
struct action {
    enum verb verb;
    json_object *body; /* a tree with templates in it, or one text; counted; NULL for delete */
    bool has_target;
    struct clause target; /* api_version, kind, ns, name */
    bool owned;           /* apply, create: with an owner reference to the rule's object */
    bool now;             /* delete: without a grace period, even if it is deleted already */
    bool evict;           /* delete: a Pod, as far as PodDisruptionBudgets allow it */
    char *condition;      /* `if`; NULL: always */
};

/** The kinds of entries of a file. */
enum rule_type { RULE_RULE, RULE_OBJECTS, RULE_IMAGE, RULE_POD, RULE_SCHEDULER };
/** One entry of a file; the members that its type uses. */
struct rule {
    enum rule_type type;
    char *name;               /* RULE, SCHEDULER: as given */
    char *place;              /* "file:line" */
    struct clause *on, *when; /* on: the clauses of `for` */
    size_t n_on, n_when;
    struct each each;
    int64_t after_ms;
    char *timeout; /* a template: seconds, instead of @after_ms and not scaled; NULL: none */
    struct action *actions, *otherwise;
    size_t n_actions, n_otherwise;
    json_object *body;       /* OBJECTS: a list, or a text; counted */
    regex_t *match;          /* IMAGE, and the `image` of POD; NULL: any */
    bool exists;             /* IMAGE */
    char *login;             /* IMAGE: "user:password"; NULL: anybody may pull it */
    struct clause pod;       /* POD: which pods */
    struct sw_pod_plan plan; /* POD; plan.log is a template */
};

/** The rules of all files. */
struct rule_set {
    struct rule *rules;
    size_t n, cap;
    char *platform;                   /* rules of another platform are left out; NULL: none are */
    char *cloud;                      /* the same of a cloud; "": there is none */
    bool real_cluster;                /* which rules with `realCluster` are left out */
    const char *troubles;             /* those that are wanted; borrowed while files are read */
    struct json_object *all_troubles; /* a map of their names, or NULL */
    struct sw_template_set *templates;
    struct lh_table *names; /* a template's text -> its name in the set; owns both */
};

/** Make @set empty; @platform and @cloud are copied. */
void sw_rule_set_init(struct rule_set *set, const char *platform, const char *cloud);
/** Free all rules and templates. Harmless on a zeroed set. */
void sw_rule_set_done(struct rule_set *set);
/** Add a file's rules. @return 0 | SW_INVALID "file:line: path: reason" */
int sw_rule_set_load(struct rule_set *set, const char *file, const char *text, size_t len_bytes,
                     struct sw_err *err) SW_CHECKED;
/** Free all rules but the first @n. */
void sw_rule_set_cut(struct rule_set *set, size_t n);
/** Free what the clause holds; it is empty then. */
void sw_clause_done(struct clause *clause);

/* ---- templates (rules_text.c) -------------------------------------------------------------------
 */

/** The variables of the templates of one run. */
struct scope {
    struct sw_rules *rules;
    json_object *object; /* borrowed; NULL: none */
    json_object *each;   /* counted */
    bool has_each;
    size_t index;
    json_object *named; /* the values of `as` and `asList`: a map, counted; NULL: none yet */
    json_object *match; /* the groups of an image's `match`: a list; counted; NULL: none */
    struct sw_arena *arena;
    struct sw_value root; /* all of it as a template's value; made at first use, invalid before */
};
/** Set up a scope with @object, which is borrowed until sw_scope_done(). */
void sw_scope_init(struct scope *scope, struct sw_rules *rules, json_object *object);
/** Free what it holds. */
void sw_scope_done(struct scope *scope);
/** A variable has changed. */
void sw_scope_touch(struct scope *scope);
/** Add the variable @name; @value is counted. */
void sw_scope_name(struct scope *scope, const char *name, json_object *value);

/** Whether @text contains a template. */
bool sw_text_is_template(const char *text);
/** Render @text where it is a template, else copy it. *@out is the caller's.
 * @return 0, or the error of the template */
int sw_text_render(struct scope *scope, const char *text, char **out, struct sw_err *err);
/** Render a body as a document: a tree with its strings rendered, or a text read as YAML (its first
 * document; @all: a list of all). *@out is the caller's. @return 0, or a template's or YAML error
 */
int sw_body_render(struct scope *scope, json_object *body, bool all, json_object **out,
                   struct sw_err *err);

/* ---- instances ----------------------------------------------------------------------------------
 */

/** What must be evaluated again when the objects that it depends on change: a rule for one object,
 * an image, a scheduler. */
struct instance {
    struct instance *next, **link; /* of its rule */
    struct sw_rules *rules;
    const struct rule *rule;
    char *kind, *ns, *name; /* RULE: of its object; @kind as sw_rules_kind_key() */
    char *image;            /* IMAGE: its name */
    bool result;            /* IMAGE: it exists; SCHEDULER: it is served */
    bool held, matured;     /* the conditions hold; and have for the rule's delay */
    int64_t held_ms;        /* since when, where the rule has a time-out */
    bool dirty;             /* it runs in the next turn */
    struct sw_timer *timer; /* of the delay, or to try again; NULL: never needed */
    char **deps;            /* keys of what it depends on; owned */
    size_t n_deps, cap_deps;
    int64_t window_ms; /* when the count of writes began */
    int n_writes;
    int64_t rests_until_ms; /* it does not run before: see sw_instance_dirty() */
    struct sw_timer *rest;  /* or NULL */
};

/** The keys that the instance that is evaluated now depends on; owned. */
struct dependencies {
    char **keys;
    size_t n, cap;
};

/** The rules of one cluster. */
struct sw_rules {
    struct sw_loop *loop;
    struct sw_rules_backend backend;
    struct sw_rules_opts opts; /* strings owned */
    struct rule_set set;
    struct instance **instances; /* by rule: the head of a list */
    size_t n_considered;         /* objects that the present run has looked at */
    struct lh_table *by_object;  /* "rule#group/Kind ns/name" -> instance */
    struct lh_table *deps;       /* key -> struct dep */
    struct lh_table *kinds;      /* "group/Kind" -> struct kind_rules: rules that are `for` it */
    struct lh_table *images;     /* image -> instance; NULL: no rule matches it */
    struct instance **dirty;
    size_t n_dirty, cap_dirty;
    struct sw_timer *turn;
    struct dependencies dependencies;
    json_object *pending;   /* objects of the start whose kinds are not served yet; NULL: none */
    struct sw_timer *later; /* to create them */
    uint64_t rng;
    bool closing;
};

/* rules_match.c */
/** Whether @doc matches all of the clause but its kind. Templates are rendered in @scope.
 * @return 1, 0, or an error */
int sw_clause_matches(const struct clause *clause, struct scope *scope, json_object *doc,
                      struct sw_err *err);
/** The objects that match, in order: the caller's list of counted documents, with @limit elements
 * at most (0: all). Adds to rules->dependencies. @return 0, or an error */
int sw_clause_find(const struct clause *clause, struct scope *scope, size_t limit,
                   json_object **out, struct sw_err *err);
/** Whether for each clause as many objects match as it wants; sets the variables `as` and `asList`.
 * @return 1, 0, or an error */
int sw_clauses_hold(const struct clause *clauses, size_t n, struct scope *scope,
                    struct sw_err *err);

/* rules_instance.c */
/** Make the tables of instances. */
void sw_instances_open(struct sw_rules *rules);
/** Free all instances and their tables. */
void sw_instances_close(struct sw_rules *rules);
/** A new instance of @rule; @rules owns it. */
struct instance *sw_instance_new(struct sw_rules *rules, const struct rule *rule);
/** Free the instance. */
void sw_instance_free(struct sw_rules *rules, struct instance *instance);
/** The instance of @rule for an object of @kind (as sw_rules_kind_key()), borrowed; where there is
 * none it is made (@make), or the result is NULL. */
struct instance *sw_instance_of(struct sw_rules *rules, const struct rule *rule, const char *kind,
                                const char *ns, const char *name, bool make);
/** Run the instance in @in_ms. */
void sw_instance_wait(struct instance *instance, int64_t in_ms);
/** Run the instance in the next turn. */
void sw_instance_dirty(struct sw_rules *rules, struct instance *instance);
/** Is the clause about objects of @kind, as sw_rules_kind_key()? */
bool sw_clause_is_about(const struct clause *clause, const char *kind);
/** Log that the rule of an instance failed. */
void sw_instance_log(const struct instance *instance, const struct sw_err *err);
/** From now on the instance depends on rules->dependencies, which are empty then. */
void sw_instance_depend(struct sw_rules *rules, struct instance *instance);
/** Add a key to rules->dependencies: "group/Kind/ns/name" of an object, "group/Kind*" of all of a
 * kind, "group/Kind*ns" of those in a namespace, "/Pod@node" of pods on a node. */
void sw_depend_on(struct sw_rules *rules, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Empty rules->dependencies. */
void sw_depend_clear(struct sw_rules *rules);
/** An object has changed, or come, or gone (NULL). */
struct rule_change {
    const char *kind; /* as sw_rules_kind_key() */
    json_object *before, *after;
};
/** Run the instances that depend on this key in the next turn, but for those whose rule says by
 * `fields` that nothing of @change concerns it (NULL: that of no object). */
void sw_depend_wake(struct sw_rules *rules, const struct rule_change *change, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* rules_watch.c */
/** Make the tables of instances and of kinds, from the rules that were read. */
void sw_watch_open(struct sw_rules *rules);
/** Free them. */
void sw_watch_close(struct sw_rules *rules);

/* rules_run.c */
/** Evaluate an instance; it may be freed by this. */
void sw_instance_run(struct sw_rules *rules, struct instance *instance);
/** What is called for each element of an `each`. @return a negative code ends it */
typedef int sw_each_fn(struct scope *scope, void *arg, struct sw_err *err);
/** Call @fn for each element, with the variables `each` and `index`. @return 0, or the first error
 */
int sw_each_run(const struct each *each, struct scope *scope, sw_each_fn *fn, void *arg,
                struct sw_err *err);

/* rules_act.c */
/** Carry out an action. @return the number of writes, 0: nothing differs, or an error */
int sw_action_run(struct sw_rules *rules, const struct action *action, struct scope *scope,
                  struct sw_err *err);
/** Create an object, or change what differs (@only_create: only set its first status). @doc is
 * borrowed. @return as sw_action_run(), or SW_PENDING: its kind is not served */
int sw_object_put(struct sw_rules *rules, json_object *doc, bool only_create, struct sw_err *err);
/** Whether the object exists, and has a status if @doc has one. */
bool sw_object_is_whole(struct sw_rules *rules, json_object *doc);

/* rules_ask.c */
/** Evaluate the instance of an image, and call opts.on_image if the result changes. */
void sw_image_run(struct sw_rules *rules, struct instance *instance);
/** Evaluate the instance of a scheduler, and call opts.on_scheduler if it is served now. */
void sw_scheduler_run(struct sw_rules *rules, struct instance *instance);
