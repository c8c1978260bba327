#pragma once
/* source: the recipe that spec.chart of a resource names: how it is loaded, and when it may have
 * changed. It is fetched by a helper process; where recipes are rendered in this process, folders
 * and ConfigMaps with one file a key are read in it, too. */
#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct sw_controller_opts;
struct sw_fetch_queue;
struct sw_folders;
struct sw_kube;
struct sw_loop;
struct sw_renderer;
struct sw_renderers;

/** What all loads of a controller share. */
struct sources {
    struct sw_loop *loop;
    struct sw_kube *kube;
    const char *ns;                   /* of Secrets that name none; borrowed */
    char *cache_dir;                  /* NULL: the default one */
    char *charts_dir, *mirror;        /* as in sw_fetch_opts, or NULL */
    bool stand_ins;                   /* there are some in sw_controller_opts */
    const struct sw_folders *folders; /* in which resources may name files; NULL: in all */
    bool one_shot;                    /* nothing is loaded again */
    int64_t refresh_ms; /* recipes from elsewhere are loaded again after so long; 0: never */
    struct sw_fetch_queue *fetches; /* borrowed */
    struct sw_renderers *renderers; /* for what was loaded; borrowed */
    bool in_children;               /* no recipe is read in this process */
};
/** @opts: cache_dir (copied), folders (borrowed), one_shot, refresh_ms, renderers. */
struct sources *sources_new(struct sw_loop *loop, struct sw_kube *kube,
                            struct sw_renderers *renderers, struct sw_fetch_queue *fetches,
                            const char *ns, const struct sw_controller_opts *opts);
/** Every load was freed before. */
void sources_free(struct sources *all);

/** A recipe that is being loaded. */
struct source;
/** @recipe, which is not loaded yet, is the callee's. @message of a failure. Never called before
 * source_load() returned. */
typedef void source_fn(int code, struct sw_renderer *recipe, const char *message, void *arg);
/** Load the recipe that spec.chart of @doc names; @*out until source_free(). @account: whose
 * requests they are, copied; NULL: the operator's. ConfigMaps of the operator's own namespace are
 * for all. */
void source_load(struct sources *all, struct json_object *doc, const char *account,
                 struct source **out, source_fn *done, void *arg);
/** Cancel the load, or free what is left of it. NULL is accepted. */
void source_free(struct source *s);
/** What distinguishes the place of one recipe (spec.chart of @doc) from another's; heap. */
char *source_key(struct json_object *doc);
/** Of a load that has settled: the digest of all files, or NULL; borrowed. */
const char *source_content(const struct source *s);
/** The ConfigMaps that it is made of, as they were read; borrowed. */
struct json_object *source_maps(const struct source *s);
/** Was it fetched from a place that may have another one later? */
bool source_is_remote(const struct source *s);
/** Was a chart not to be had that the recipe may do without (sw_fetch_opts.late)? */
bool source_is_missing(const struct source *s);

/** Watches for changes of one recipe at its source (recipe_changes.c). */
struct refresh;
/** @changed: load the recipe again. */
struct refresh *refresh_new(const struct sources *all, void (*changed)(void *arg), void *arg);
/** The account of source_load(); borrowed. */
const char *source_account(const struct source *s);
/** @s has settled with @code: from now on this is the load that may become old. */
void refresh_update(struct refresh *f, const struct source *s, int code);
/** Has the walk come to a chart that was not to be had? It is asked for as long as it has; one that
 * nobody needs is not. NULL is accepted. */
void refresh_need(struct refresh *f, bool is_needed);
/** It changed, but cannot be loaded now: have @changed called again soon. */
void refresh_postpone(struct refresh *f);
/** NULL is accepted. */
void refresh_free(struct refresh *f);
