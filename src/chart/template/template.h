#pragma once
/* template: Go's text/template with sprig's and Helm's functions, as Helm 3.21 renders charts.
 *
 * A set holds the parsed templates of a chart and its subcharts; it is parsed once and executed as
 * often as needed. A render also needs a root value for each chart ("."), made here from values,
 * Chart.yaml, release, capabilities and files (the second half of this header).
 *
 * Reading charts, merging values and ordering objects are the recipe module's work. Behaviour: Go's
 * text/template documentation, sprig 3.3, Helm 3.21; pinned by test/golden/template. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "chart/template/value/value.h"

/* ---- parsed templates ---- */

struct sw_template_set;

/** An empty set that can call all functions of funcs/. The caller frees it. */
struct sw_template_set *sw_template_set_new(void);
/** @set may be NULL. */
void sw_template_set_free(struct sw_template_set *set);
SW_DEFINE_AUTO(sw_template_set, sw_template_set_free)

/** Parse @text and add it, and all that it defines, under its name. Where two texts define one name
 * the one added last wins, so add them in the order of sw_template_order(). @name is the template's
 * path as Helm has it ("chart/templates/a.yaml"); both are copied.
 * @return 0 | SW_INVALID: "parse error at (c/templates/t.yaml:2): ..." */
int sw_template_add(struct sw_template_set *set, const char *name, const char *text, size_t len,
                    struct sw_err *err) SW_CHECKED;

/** Helm's order of template paths, for parsing and for rendering: the deepest first, then reverse
 * byte order. For qsort-like callers: negative when @a comes first. */
int sw_template_order(const char *a, const char *b);

/** Whether Helm only parses this file and does not render it: its base name starts with '_'. */
bool sw_template_is_partial(const char *name);

/* ---- execution ---- */

/** Output: a buffer that grows and can be used again (set len to 0). Zero-initialise. */
struct sw_template_out {
    char *text; /* NUL-terminated after a successful execution */
    size_t len;
    size_t cap;
};
/** Free the text. */
void sw_template_out_done(struct sw_template_out *out);

/** What `lookup` calls. @name "": the list of the objects. Put the object, made in @arena, into
 * @out (nil: it does not exist; `lookup` returns an empty map). @return 0 | any error: rendering
 * ends with it; SW_PENDING: there is no answer yet, render again when there is. */
typedef int sw_template_lookup_fn(void *arg, const char *api_version, const char *kind,
                                  const char *namespace, const char *name, struct sw_arena *arena,
                                  struct sw_value *out, struct sw_err *err);

/** The default limits of an execution, and of a whole render: steps, of about 100 ns each, and
 * bytes in the arena. */
enum { SW_TEMPLATE_FUEL = 10 * 1000 * 1000, SW_TEMPLATE_BYTES = 24 << 20 };

/** Zero values are the defaults. */
struct sw_template_opts {
    uint64_t fuel;           /* evaluation steps; default SW_TEMPLATE_FUEL */
    uint64_t *fuel_left;     /* what several executions have left of @fuel, changed; NULL: all */
    size_t max_output_bytes; /* default 16 MiB, includes what `include` returns */
    /* Of the arena, in one execution; default SW_TEMPLATE_BYTES. A lower limit that the arena has
     * by itself (sw_arena_limit()) holds as well. */
    size_t max_memory_bytes;
    unsigned max_depth; /* of template, include and tpl in each other; default 100000, and
                         * never more than the C stack has room for */
    sw_template_lookup_fn *lookup; /* NULL: every lookup finds nothing */
    void *lookup_arg;
    int64_t now_ns; /* for now, ago, genCA...; 0: the clock */
    uint64_t seed;  /* for rand*, uuidv4, shuffle; 0: the system's generator. Keys never use it */
    bool strict;    /* missingkey=error, helm's --strict */
    bool is_lint;   /* required and fail give "", as in helm lint */
};

/** Execute the template @name with @root as "." and append to @out. @arena takes what the render
 * makes; it may be reset when its values are no longer used. @root is changed by `set`
 * and its like, and gets the key "Template".
 * On failure @out has its old length.
 * @return 0 | SW_INVALID: "template: c/templates/t.yaml:2:13: executing ..." as in Helm
 *         | SW_NOTFOUND: no such template | what the lookup callback returned */
int sw_template_exec(const struct sw_template_set *set, const char *name, struct sw_value root,
                     struct sw_arena *arena, const struct sw_template_opts *opts,
                     struct sw_template_out *out, struct sw_err *err) SW_CHECKED;

/** Where the work is while no template runs: @name, borrowed, until the next call; NULL: nowhere.
 */
void sw_template_place(const char *name, size_t line);
/** The place of the innermost execution that runs now: the template's name, borrowed, and its line;
 * else that of sw_template_place(). May be called in a signal handler. @return false: none */
bool sw_template_running(const char **name, size_t *line);

/* ---- the objects of a render: ".", made in the render's arena ---- */

/** What .Release holds. */
struct sw_template_release {
    const char *name;
    const char *namespace;
    int64_t revision;    /* 0: 1 */
    bool is_upgrade;     /* else it is an install */
    const char *service; /* NULL: "Helm" */
};

/** A file of the chart that is no template, for .Files. */
struct sw_template_file {
    const char *name; /* path in the chart */
    const char *bytes;
    size_t len;
};

/** The Helm whose templates these are. */
#define SW_HELM_VERSION "v3.21.4"
#define SW_HELM_COMMIT "813176c51bb5c181dbbd7901298ddcc104cd3417" /* of its tag */
#define SW_HELM_GO "go1.26" /* that its release asks for, without the number of the patch */

/** .Capabilities. @kube_version: "v1.29.3"; NULL: Helm 3.21's default. @api_versions: "v1",
 * "apps/v1", "apps/v1/Deployment"...; NULL: Helm's default set. */
struct sw_template_caps {
    const char *kube_version;
    const char *const *api_versions;
    size_t n_api_versions;
    const char *helm_version; /* NULL: SW_HELM_VERSION */
};

/** Helm's default set of API versions (client-go's scheme at Helm 3.21, with the versions that
 * came later). @return a static list ended by NULL. */
const char *const *sw_template_default_api_versions(void);

/** .Release, made in @arena. */
struct sw_value sw_template_release_value(struct sw_arena *arena,
                                          const struct sw_template_release *release);
/** .Capabilities, made in @arena. */
struct sw_value sw_template_caps_value(struct sw_arena *arena, const struct sw_template_caps *caps);

/** One chart's root. Subcharts' roots are made first and given to their parent's. */
struct sw_template_root {
    struct sw_value values;  /* map: .Values; nil: empty */
    struct sw_value chart;   /* Chart.yaml as a map; gives .Chart with Helm's field names */
    bool is_root;            /* .Chart.IsRoot */
    struct sw_value release; /* sw_template_release_value(), shared by all charts */
    struct sw_value caps;    /* sw_template_caps_value(), shared by all charts */
    const struct sw_template_file *files; /* borrowed as long as the arena */
    size_t n_files;
    struct sw_value subcharts; /* map: name -> root of that subchart; nil: none */
};
/** @return the chart's "."; a map, to which more keys may be added. */
struct sw_value sw_template_root_value(struct sw_arena *arena, const struct sw_template_root *root);
