#pragma once
/* renderer: recipes as the controller uses them. What a recipe holds (charts, schemas, templates)
 * was written by others; it is read, planned and rendered in a child process that serves one
 * recipe, has no descriptor but its pipe, and is killed when it takes more than its memory or time.
 * The controller keeps plain data of recipe and plan. Without a program for children the same is
 * done in this process: for commands of a user, whose own recipe it is, and for virtual clocks.
 *
 * Work that needs a child answers SW_PENDING: ask again, with the same arguments, when the struct
 * sw_render_wait calls. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"
#include "data/json/hash.h"

struct json_object;
struct sw_kept;
struct sw_loop;

/* ---- all children of a controller --------------------------------------------------------------
 */

/** Zero values are the defaults; strings are copied. */
struct sw_renderers_opts {
    const char
        *program;       /* its command `renderer` is the child; NULL: all is done in this process */
    size_t child_bytes; /* address space of a child; default SW_RENDERER_BYTES */
    int64_t wall_ms;    /* of one piece of work, waits for lookups apart; default 30 s */
    unsigned cpu_s;     /* processor time of one piece of work; default 20 s */
    unsigned n_children; /* at most at a time, idle ones included; default 2 */
    int64_t idle_ms;     /* a child without work ends after so long; default 10 s */
    /** Words that sw_recipe_view_mentions() and sw_plan_view_mentions() will be asked for, ended by
     * NULL; borrowed for the life of the renderers. Names of group versions need not be there. */
    const char *const *words;
};
enum { SW_RENDERER_BYTES = 56 << 20 };

/** The children of a controller, and the queue of work for them. */
struct sw_renderers;
struct sw_renderers *sw_renderers_new(struct sw_loop *loop, const struct sw_renderers_opts *opts);
/** Every renderer and every wait was freed before. NULL is accepted. */
void sw_renderers_free(struct sw_renderers *all);

/** Give up the place of a child for something else that takes as much memory, until it is taken
 * back. A child without work is ended for it, no other one is started. @return whether there is no
 * child in that place any more: else ask again */
bool sw_renderers_lend(struct sw_renderers *all, bool lend);

/** Figures for metrics. */
struct sw_renderers_stats {
    uint64_t n_started, n_killed, n_lost; /* children: begun; ended for a limit; ended otherwise */
    size_t n_children, n_waiting;         /* children now; pieces of work that wait for one */
};
struct sw_renderers_stats sw_renderers_stats(const struct sw_renderers *all);

/* ---- a wait ------------------------------------------------------------------------------------
 */

/** What one plan, render or record waits for. */
struct sw_render_wait;
/** @answered is called from the loop, never from a function of this module, when the last call that
 * returned SW_PENDING is worth repeating. */
struct sw_render_wait *sw_render_wait_new(void (*answered)(void *arg), void *arg);
/** Work under way is dropped. NULL is accepted. */
void sw_render_wait_free(struct sw_render_wait *wait);

/* ---- a recipe ----------------------------------------------------------------------------------
 */

/** What is known of a loaded recipe. */
struct sw_recipe_view {
    char *name, *version;           /* of Chart.yaml */
    struct json_object *metadata;   /* Chart.yaml */
    char digest[SW_SHA256_HEX];     /* of its files alone: the same after a restart */
    struct json_object *base;       /* the SpecialResource in the file that sw_renderer_load() asked
                                     * for; NULL: none */
    const struct sw_recipe *loaded; /* in this process; NULL: in a child */
    bool sees_all_versions;         /* sw_recipe_sees_all_versions() */
    char *words, *versions;         /* of a child: what was found; "" in its lines: see view.c */
};

/** What is known of a plan: as struct sw_plan (chart/recipe/recipe.h) has it. */
struct sw_plan_view {
    struct sw_recipe_state *states; /* in an order in which each comes after all that it needs */
    size_t n_states;
    struct json_object *values; /* coalesced, if asked for; or NULL */
    const struct sw_plan *plan; /* in this process; NULL: in a child */
    char **words;               /* of a child: for each state, as those of the recipe */
    /* For each state of a release of its own: a digest of that release's chart and values, without
     * facts: another one is another revision of it. NULL: the recipe's release. */
    const char **digests;
    struct sw_arena *arena;
};

/** A recipe that is loaded, or is about to be. */
struct sw_renderer;
/** @bundle: sw_recipe_to_bundle(); taken. NULL: for sw_renderer_resolve() alone. @origin names it
 * in messages. */
struct sw_renderer *sw_renderer_new(struct sw_renderers *all, const char *origin,
                                    struct sw_kept *bundle);
/** The same of a recipe that was read in this process, which is taken. */
struct sw_renderer *sw_renderer_of(struct sw_renderers *all, struct sw_recipe *recipe);
/** Who waits for it is told to ask again, another one. NULL is accepted. */
void sw_renderer_free(struct sw_renderer *renderer);

/** Load it. @file: a file of the chart with a SpecialResource that is wanted ("x.yaml"), or NULL.
 * @*out is borrowed for the life of @renderer.
 * @return 0 | SW_PENDING | as sw_recipe_open() | SW_INVALID: it took more than its limits |
 *         SW_UNAVAILABLE: the child ended */
int sw_renderer_load(struct sw_renderer *renderer, struct sw_render_wait *wait, const char *file,
                     const struct sw_recipe_view **out, struct sw_err *err) SW_CHECKED;
/** Plan it, as sw_recipe_plan(). @label: the resource whose labels are checked as by
 * sw_plan_check_labels(), which must have something to apply; NULL: no check. @*out is borrowed
 * until the next plan of @renderer. A failure leaves the plan before it in force. The request of
 * the plan in force is answered at once, unless that plan looked something up.
 * @return 0 | SW_PENDING | as sw_recipe_plan() | as sw_renderer_load() */
int sw_renderer_plan(struct sw_renderer *renderer, struct sw_render_wait *wait,
                     struct json_object *set, const struct sw_render_env *env, const char *label,
                     bool want_values, const struct sw_plan_view **out,
                     struct sw_err *err) SW_CHECKED;
/** Render a state of the last plan, or SW_ALL_STATES, as sw_recipe_render(). @*out is the caller's.
 * Of a child's result only the manifests are known.
 * @return 0 | SW_PENDING | as sw_recipe_render() | as sw_renderer_load() */
int sw_renderer_render(struct sw_renderer *renderer, struct sw_render_wait *wait,
                       const struct sw_render_env *env, size_t state, struct sw_rendered **out,
                       struct sw_err *err) SW_CHECKED;
/** Render the templates in a resource's spec: @request is {"spec", "values"}. It needs no recipe:
 * @renderer may be one without a bundle. @*out is the caller's.
 * @return 0 | SW_PENDING | SW_INVALID: a template fails, or took more than its limits |
 *         SW_UNAVAILABLE: the child ended */
int sw_renderer_resolve(struct sw_renderer *renderer, struct sw_render_wait *wait,
                        struct json_object *request, struct json_object **out,
                        struct sw_err *err) SW_CHECKED;
/** The release of the last plan as Helm records it (record.h): @release has all but "chart",
 * "manifest" and "hooks". @chart: full path of the subchart whose own release it is ("config" is
 * set, too), or NULL. @runs: "last_run" of hooks by "<kind> <namespace>/<name>", or NULL.
 * @*packed: sw_release_pack(), the caller's. @content: sw_release_content(). @return as
 * sw_renderer_render() */
int sw_renderer_record(struct sw_renderer *renderer, struct sw_render_wait *wait,
                       const struct sw_render_env *env, const char *chart,
                       struct json_object *release, struct json_object *runs, char **packed,
                       char content[static SW_SHA256_HEX], struct sw_err *err) SW_CHECKED;

/** The recipe, once it is loaded, else NULL; its plan, or NULL. Borrowed. */
const struct sw_recipe_view *sw_renderer_recipe(const struct sw_renderer *renderer);
const struct sw_plan_view *sw_renderer_plan_view(const struct sw_renderer *renderer);

/** Whether @word occurs in the text of any template: one of sw_renderers_opts.words, or the name of
 * a group version ("apps/v1"). */
bool sw_recipe_view_mentions(const struct sw_recipe_view *recipe, const char *word);
/** Whether @word, one of the words, occurs in the text of one of the state's templates. */
bool sw_plan_view_mentions(const struct sw_plan_view *plan, size_t state, const char *word);
/** @return the state's index, or -1. */
int sw_plan_view_find(const struct sw_plan_view *plan, const char *name);

/* ---- the child ---------------------------------------------------------------------------------
 */

/** The child: serve the recipe that comes over the socket @fd until it is closed, confined as
 * docs/security.md says. @bytes, @cpu_s, @wall_ms: its limits. @return an exit code */
int sw_renderer_serve(int fd, size_t bytes, unsigned cpu_s, unsigned wall_ms);
