#pragma once
/* recipe: a Helm chart whose objects are applied in an order of states - loaded from any source,
 * given its values, divided into states, rendered to manifests.
 *
 *   sw_recipe_open()    a source            -> the chart and its subcharts, parsed once
 *   sw_values_*()       -f, --set ...       -> one tree of user values
 *   sw_recipe_plan()    recipe + values     -> charts, checked values, the graph of states
 *   sw_recipe_render()  plan + state + now  -> manifests in the order to apply them
 *
 * A recipe and a plan are kept and rendered again and again: one state at a time, with the
 * capabilities of that moment, once for each kernel where the state is kernel-affine. Nothing here
 * talks to a cluster, waits, or decides when a state is finished.
 *
 * Loading, values and rendering are Helm 3.21's; the graph's conventions are
 * SRO's numbered templates and HIP-0025's subcharts and resource groups. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;

/* ---- sources of recipes -------------------------------------------------------------------------
 */

/** A parsed recipe: immutable, may be used by any number of plans. */
struct sw_recipe;
struct sw_folders;

/** A chart to fetch: a source that is no path, or a dependency that is not in charts/. Borrowed for
 * the call. */
struct sw_recipe_ask {
    const char *url;     /* the source; of a dependency, its repository */
    const char *name;    /* of the chart in that repository; NULL: the URL is the chart itself */
    const char *version; /* a version, or a range of them; NULL or "": any */
    const char *base;    /* sw_recipe_got.origin of the chart that has the dependency, to which a
                          * file:// @url is relative; NULL: none */
    bool
        is_release; /* the chart above makes it a release of its own, which need not be installed */
};

/** A chart that was fetched: files, or a packaged chart. All is owned; zero-initialise,
 * sw_recipe_got_done(). */
struct sw_recipe_got {
    struct sw_recipe_file *files;
    size_t n_files;
    char *archive;
    size_t archive_len;
    char *origin;  /* its exact URL, for messages: "https://host/charts/x-1.2.3.tgz" */
    char *digest;  /* "sha256:<hex>" of the bytes */
    char *version; /* the version that was chosen and that the chart must have; NULL: no choice */
    bool any_version; /* its version need not be the one that was asked for */
    bool is_stand_in; /* it plays the chart that was asked for */
    char *provenance; /* its signature as it was checked: the text of its .prov file; or NULL */
};
/** In a bundle of `slipway bundle`: the list of images, by which it is known, and the digests of
 * all files, as sha256sum prints them. */
#define SW_BUNDLE_IMAGES "images.txt"
#define SW_BUNDLE_CHECKSUMS "checksums.txt"

/** Free it. Twice is harmless. */
void sw_recipe_got_done(struct sw_recipe_got *got);

/** Fetch a chart. This module has no network access: sw_fetcher_get() of fetch.h is such a
 * function.
 * @return 0 | any error; its message names the source and the reason */
typedef int sw_recipe_get_fn(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                             struct sw_err *err);

/** Options of opening. Zero values are the defaults. */
struct sw_recipe_opts {
    size_t max_bytes;      /* of all files together, unpacked; default 64 MiB */
    size_t max_files;      /* default 10,000 */
    sw_recipe_get_fn *get; /* used while the recipe is opened; NULL: nothing can be fetched */
    void *get_arg;
    /* The URL of the repository that the root chart's dependency names as "@name" or "alias:name",
     * borrowed until the next call; NULL: it is not known. @arg is get_arg. NULL: no name is. */
    const char *(*repository_url)(void *arg, const char *name);
    const char *chart;   /* the source is a repository and this the chart in it; borrowed */
    const char *version; /* of a source that is fetched: a version or a range; borrowed */
    const struct sw_folders *folders; /* files are read below these alone; NULL: all that one may
                                         read. Borrowed */
    /* Of a source that is NVIDIA's (chart/aicr): the criteria for a catalogue, and the folder of
     * the catalogue for a RecipeResult alone. Borrowed; NULL: none. */
    const char *aicr_criteria, *aicr_data;
    bool no_archives; /* SW_PENDING where a packaged chart would have to be read */
    /* To look at other versions than those that the root chart is pinned to. Borrowed. */
    bool no_lock;                /* its Chart.lock does not count, nor do its digests */
    bool allow_stale_lock;       /* of a Chart.lock of other dependencies, in any chart, that counts
                                    which Chart.yaml still asks for */
    bool no_charts;              /* nor what is in its charts/ of dependencies with a repository */
    const char *of_dependency;   /* its dependency of this name, which is fetched, */
    const char *instead_version; /* is of this version, or the newest in this range */
};

/** The name in "@name" and "alias:name", borrowed; NULL: @repository is a URL, or "". */
const char *sw_repository_name(const char *repository);

/** Load a recipe. @source: a directory, a file:// URL of one, a packaged chart (.tgz, .tar.gz,
 * .tar.zst, .tar), or a URL for opts->get. What is no chart may be a recipe of NVIDIA's AI Cluster
 * Runtime: a RecipeResult (a file), a bundle, a catalogue; it becomes one. Dependencies are taken
 * from charts/, else from their `repository:` - file://... relative to the chart that has them, all
 * else by opts->get. Then Chart.lock decides their versions, and its digest must fit the
 * dependencies in Chart.yaml.
 * @return 0 | SW_NOTFOUND | SW_FORBIDDEN | SW_INVALID: not a chart, a dependency is missing, an
 *         archive that reaches outside itself or is too big; the message names file and line |
 *         what opts->get returned */
int sw_recipe_open(const char *source, const struct sw_recipe_opts *opts, struct sw_recipe **out,
                   struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_recipe_free(struct sw_recipe *recipe);
SW_DEFINE_AUTO(sw_recipe, sw_recipe_free)

/** One file of a recipe in memory; @name is its path in the chart ("templates/a.yaml"). */
struct sw_recipe_file {
    const char *name;
    const char *bytes;
    size_t len;
};

/** A recipe from files in memory, which are copied. @origin names them in messages
 * ("configmap default/simple-kmod").
 * @return as sw_recipe_open */
int sw_recipe_from_files(const char *origin, const struct sw_recipe_file *files, size_t n_files,
                         const struct sw_recipe_opts *opts, struct sw_recipe **out,
                         struct sw_err *err) SW_CHECKED;

/** A packaged chart in memory (.tgz, .tar.zst), for sources that download one. @return as above */
int sw_recipe_from_archive(const char *origin, const void *bytes, size_t len,
                           const struct sw_recipe_opts *opts, struct sw_recipe **out,
                           struct sw_err *err) SW_CHECKED;

/** Write the recipe as a bundle: one piece of bytes that is read without a library, with all
 * dependencies as folders of charts/. Equal recipes give equal bundles, whatever their sources.
 * @*bytes is the caller's.
 * @return 0 | SW_INVALID: over the limits with which it was opened */
int sw_recipe_to_bundle(const struct sw_recipe *recipe, char **bytes, size_t *len,
                        struct sw_err *err) SW_CHECKED;
/** Read a bundle. @return as sw_recipe_open(). Pinned by test/unit/chart/recipe_elsewhere_test.c.
 */
int sw_recipe_from_bundle(const char *origin, const void *bytes, size_t len,
                          const struct sw_recipe_opts *opts, struct sw_recipe **out,
                          struct sw_err *err) SW_CHECKED;

/** The name in Chart.yaml. Borrowed. */
const char *sw_recipe_name(const struct sw_recipe *recipe);
/** Its source, as messages show it. Borrowed. */
const char *sw_recipe_origin(const struct sw_recipe *recipe);
/** The version in Chart.yaml. Borrowed. */
const char *sw_recipe_version(const struct sw_recipe *recipe);
/** Whether the chart's kubeVersion allows the release @kube_version ("v1.34.0"). */
bool sw_recipe_runs_on(const struct sw_recipe *recipe, const char *kube_version);
/** @return Chart.yaml as a document, borrowed. */
const struct json_object *sw_recipe_metadata(const struct sw_recipe *recipe);
/** @return a file of the root chart by its path in the chart, any file but those under charts/;
 * NULL where there is none. Borrowed. `<name>.yaml` with the SpecialResource is read this way. */
const struct sw_recipe_file *sw_recipe_find_file(const struct sw_recipe *recipe, const char *path);

/** One of the recipe's charts as it was loaded. All is borrowed. */
struct sw_recipe_chart {
    const char *origin; /* "recipes/x/charts/y" */
    const char *text;   /* of its Chart.yaml */
    size_t len;
    struct json_object *metadata; /* the same as a document */
};
/** A file of the @i-th chart by its path in the chart, charts/ included; NULL: there is none.
 * Borrowed. */
const struct sw_recipe_file *sw_recipe_chart_file(const struct sw_recipe *recipe, size_t i,
                                                  const char *path);
/** How many charts the recipe has, subcharts of subcharts included. */
size_t sw_recipe_n_charts(const struct sw_recipe *recipe);
/** The @i-th of them; the first is the root chart. */
struct sw_recipe_chart sw_recipe_chart(const struct sw_recipe *recipe, size_t i);

/** Whether @word occurs in the text of any template of the recipe or its subcharts. For facts that
 * are only fetched when a recipe uses them. */
bool sw_recipe_mentions(const struct sw_recipe *recipe, const char *word);
/** May templates see any API version, and not those alone that their texts name? They do unless
 * each use of .Capabilities.APIVersions is `.Has "..."`. */
bool sw_recipe_sees_all_versions(const struct sw_recipe *recipe);

/** The text of the @i-th template of the recipe, borrowed. @return false: there are not so many */
bool sw_recipe_template_text(const struct sw_recipe *recipe, size_t i, const char **text,
                             size_t *len);

/* ---- values -------------------------------------------------------------------------------------
 */

/** What a user sets beside the chart's own values.yaml: one tree, built up in the order of calls,
 * the later winning. A null deletes the chart's default. */
struct sw_values;

/** No values yet. */
struct sw_values *sw_values_new(void);
/** NULL is accepted. */
void sw_values_free(struct sw_values *values);
SW_DEFINE_AUTO(sw_values, sw_values_free)

/** The syntax of an expression, by the flag that it is given with. */
enum sw_values_syntax {
    SW_VALUES_TYPED,   /* --set: a.b[0].c=1,d={x,y}; true, false, null and integers are typed */
    SW_VALUES_STRING,  /* --set-string: every value a string */
    SW_VALUES_JSON,    /* --set-json: a.b={"c": [1]} */
    SW_VALUES_FILE,    /* --set-file: a.b=path, the value is the file's text */
    SW_VALUES_LITERAL, /* --set-literal: a.b=text, all of it a string, no character is special */
};

/** Merge a values file's text. @name is for messages. @return 0 | SW_INVALID with line */
int sw_values_add_yaml(struct sw_values *values, const char *name, const char *text, size_t len,
                       struct sw_err *err) SW_CHECKED;
/** The same from a file. @return 0 | SW_INVALID | SW_NOTFOUND | SW_FORBIDDEN */
int sw_values_add_file(struct sw_values *values, const char *path, struct sw_err *err) SW_CHECKED;
/** Merge a document (spec.set); copied. @return 0 | SW_INVALID: not an object */
int sw_values_add_json(struct sw_values *values, const struct json_object *doc,
                       struct sw_err *err) SW_CHECKED;
/** Apply one --set expression. @return 0 | SW_INVALID, SW_NOTFOUND (a --set-file's file) */
int sw_values_set(struct sw_values *values, enum sw_values_syntax syntax, const char *expression,
                  struct sw_err *err) SW_CHECKED;
/** @return the tree as a document, the caller's; always an object. */
struct json_object *sw_values_json(const struct sw_values *values);

/** The flags of a command line that set values; lists are in the order given. */
struct sw_values_flags {
    const char *const *files; /* -f, --values */
    size_t n_files;
    const char *const *json; /* --set-json */
    size_t n_json;
    const char *const *set; /* --set */
    size_t n_set;
    const char *const *string; /* --set-string */
    size_t n_string;
    const char *const *file; /* --set-file */
    size_t n_file;
    const char *const *literal; /* --set-literal */
    size_t n_literal;
};
/** Helm's precedence: files, --set-json, --set, --set-string, --set-file, --set-literal, the later
 * winning.
 * @return 0 | SW_INVALID | SW_NOTFOUND | SW_FORBIDDEN */
int sw_values_from_flags(const struct sw_values_flags *flags, struct sw_values **out,
                         struct sw_err *err) SW_CHECKED;

/* ---- the plan: states and what they need --------------------------------------------------------
 */

/** Read what `lookup` in a template requests from the cluster. @name "": a list. @*out: the object,
 * the renderer's from here; NULL where there is none. @return 0 | any error, which ends rendering;
 * SW_PENDING: the object was requested, render again when it is there. */
typedef int sw_recipe_lookup_fn(void *arg, const char *api_version, const char *kind,
                                const char *namespace, const char *name, struct json_object **out,
                                struct sw_err *err);

/** What templates see of Kubernetes' and Helm's versions where nothing else is said. */
extern const char sw_recipe_kube_version[], sw_recipe_helm_version[];

struct sw_rendered_file;

/** What holds at the moment of a render. Zero values are the defaults; all is borrowed for the
 * call. */
struct sw_render_env {
    const char *release;   /* .Release.Name; default: the recipe's name */
    const char *namespace; /* .Release.Namespace; default "default" */
    int64_t revision;      /* default 1 */
    bool is_upgrade;
    /* Runtime values: an object whose keys win over all values, in every chart of the recipe. A
     * scalar does not replace a table of the chart's own of that name, nor the reverse. */
    const struct json_object *facts;
    const char *kube_version; /* "v1.29.0"; default: Helm 3.21's */
    /* "v1", "apps/v1", "apps/v1/Deployment"; NULL: Helm's default set */
    const char *const *api_versions;
    size_t n_api_versions;
    bool add_api_versions;       /* @api_versions are added to the default set */
    sw_recipe_lookup_fn *lookup; /* NULL: every lookup finds nothing */
    void *lookup_arg;
    bool no_crds;    /* leave crds/ out */
    bool no_schema;  /* values need not fit values.schema.json */
    bool keep_notes; /* sw_rendered_notes() has what the charts' NOTES.txt give */
    /* required and fail are no errors, as in helm lint; what Helm leaves out for a hook that it
     * does not know is there, too (is_left_out) */
    bool is_lint;
    /* sw_recipe_render() leaves out documents that are no manifests, from the first of a file on,
     * and tells why; NULL: the first is its error */
    void (*on_fault)(void *arg, const struct sw_rendered_file *file, const char *text);
    void *fault_arg;
    bool any_manifest; /* those without apiVersion, kind or name are no error: for printing */
    uint64_t fuel;     /* evaluation steps of all templates together; default SW_TEMPLATE_FUEL */
    size_t max_memory_bytes; /* of the values and all templates; default SW_TEMPLATE_BYTES */
    int64_t now_ns;          /* what templates see as now; 0: the clock */
};

/** The Helm release of a subchart that is one of its own (slipway.dev/releases). */
struct sw_release_of_state {
    const char *name;      /* .Release.Name */
    const char *namespace; /* .Release.Namespace; NULL: that of the recipe's release */
    const char *chart;     /* full path of the subchart */
    const char *shared;    /* "<namespace>/<name>": one that resources share; NULL: it is none */
    const char *version;   /* of the subchart, as it is pinned, without a leading v */
};

/** The run-time value that names the shared releases of others, and what else they have for all:
 * {"<namespace>/<name>": their owner}. They are not installed again; shared objects are observed.
 */
#define SW_RELEASES_OF_OTHERS "releasesOfOthers"
/** The run-time value that names, of the shared releases that are the resource's, who has owned
 * them and is gone without having handed them over: {"<namespace>/<name>": [names]}. */
#define SW_FORMER_OWNERS "formerOwners"

/** One state of the graph. */
struct sw_recipe_state {
    /* Unique in the plan: the four digits of numbered templates, else the resource group, else the
     * subchart's name or alias; of nested charts with the path of aliases before it and a dot
     * between ("driver.0000", "stack.database"). The root chart's own unnumbered templates have
     * the recipe's name. A chart may name its states otherwise (slipway.dev/state-name). */
    const char *name;
    const char *chart_name; /* @name, had no chart named it otherwise */
    /* <state> of the node label state-<resource>-<state>; NULL where a state sets none: unnumbered
     * templates beside numbered ones. */
    const char *label;
    const char *chart;   /* full path: "nvidia-mig/charts/nfd" */
    const char *group;   /* helm.sh/resource-group, or NULL */
    const size_t *needs; /* states that must be ready before, by index, ascending; direct only */
    size_t n_needs;
    const char *const *templates; /* full paths, sorted */
    size_t n_templates;
    bool wait_all;      /* slipway.dev/wait: all, of its chart or of one above */
    bool kernel_affine; /* its text has the kernel-affine annotation: render once a kernel */
    bool has_crds;      /* the chart's crds/ belong to it */
    const struct sw_release_of_state *release; /* NULL: the recipe's own */
    const char *shared_objects; /* "<namespace>/<name>": the name by which resources share its
                                 * objects (slipway.dev/shared-objects); NULL: they do not */
    const char *shared_version; /* of these; not empty */
};

/** What of @state resources share: its release, or its objects. "<namespace>/<name>"; NULL: nothing
 * of it. */
const char *sw_state_shared(const struct sw_recipe_state *state);
/** The version of that, as it is pinned; "": none. */
const char *sw_state_shared_version(const struct sw_recipe_state *state);
/** Is @object, which @state renders, one of the objects that resources share? Those that are only
 * observed, or never stored, are not, nor those that say so. */
bool sw_state_shares(const struct sw_recipe_state *state, struct json_object *object);

/** A recipe with its values: the charts that are enabled, and the states. */
struct sw_plan;

/** Process dependencies (condition, tags, alias, import-values), coalesce the values, check them
 * against the schemas, and find the states. @recipe must outlive the plan; @values may be NULL.
 * A chart with resource groups is rendered once for it.
 * @return 0 | SW_INVALID: schema, unknown need, cycle ("cycle: a -> b -> a"), kubeVersion, two
 *         states of one name | what rendering returned */
int sw_recipe_plan(const struct sw_recipe *recipe, const struct sw_values *values,
                   const struct sw_render_env *env, struct sw_plan **out,
                   struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_plan_free(struct sw_plan *plan);
SW_DEFINE_AUTO(sw_plan, sw_plan_free)

/** The states in an order in which each comes after all that it needs. */
size_t sw_plan_n_states(const struct sw_plan *plan);
/** The @i-th of them. Borrowed. */
const struct sw_recipe_state *sw_plan_state(const struct sw_plan *plan, size_t i);
/** @return the state's index, or -1. */
int sw_plan_find_state(const struct sw_plan *plan, const char *name);
/** Whether @word occurs in the text of one of the state's templates. */
bool sw_plan_state_mentions(const struct sw_plan *plan, size_t state, const char *word);
/** The values of the root chart as templates see them, coalesced, without facts; the caller's. */
struct json_object *sw_plan_values(const struct sw_plan *plan);

/** The values of the chart at @chart, a full path, as templates see them, without facts; the
 * caller's. NULL: the plan has no such chart. */
struct json_object *sw_plan_values_of(const struct sw_plan *plan, const char *chart);

/** The label that a node gets when a state has finished on it:
 * "specialresource.openshift.io/state-<resource>-<label>", the caller's. A name over 63 characters
 * ("state-...") is cut and ends in a hash of the whole. */
char *sw_recipe_label_key(const char *resource, const char *label);
/** The same, checked. @return 0 | SW_INVALID: not a label */
int sw_recipe_label(const char *resource, const char *label, char **key,
                    struct sw_err *err) SW_CHECKED;
/** Check the labels of all states. @return 0 | SW_INVALID, naming the state */
int sw_plan_check_labels(const struct sw_plan *plan, const char *resource,
                         struct sw_err *err) SW_CHECKED;

/* ---- rendering ----------------------------------------------------------------------------------
 */

/** When a Helm hook runs; a bit each. */
enum sw_hook_event {
    SW_HOOK_PRE_INSTALL = 1 << 0,
    SW_HOOK_POST_INSTALL = 1 << 1,
    SW_HOOK_PRE_DELETE = 1 << 2,
    SW_HOOK_POST_DELETE = 1 << 3,
    SW_HOOK_PRE_UPGRADE = 1 << 4,
    SW_HOOK_POST_UPGRADE = 1 << 5,
    SW_HOOK_PRE_ROLLBACK = 1 << 6,
    SW_HOOK_POST_ROLLBACK = 1 << 7,
    SW_HOOK_TEST = 1 << 8,
};

/** When a hook's object is deleted; a bit each. Default: before-hook-creation. */
enum sw_hook_policy {
    SW_HOOK_DELETE_BEFORE_CREATION = 1 << 0,
    SW_HOOK_DELETE_SUCCEEDED = 1 << 1,
    SW_HOOK_DELETE_FAILED = 1 << 2,
};

/** One object to apply. */
struct sw_manifest {
    struct json_object *doc; /* borrowed; json_object_get() to keep it */
    const char *path;        /* template or crds/ file: "chart/templates/0000-a.yaml" */
    int line;                /* of the rendered text where its document begins, from 1 */
    size_t state;            /* index in the plan */
    const char *namespace;   /* of an object that names none: its release's; NULL: the recipe's */
    const struct sw_release_of_state *release; /* that it is of; NULL: the recipe's */
    bool is_first;          /* the namespace of a release of its own: made before all else of it */
    bool from_crds;         /* of crds/, which is not rendered */
    bool kernel_affine;     /* its template's text has the kernel-affine annotation */
    unsigned hook_events;   /* enum sw_hook_event; 0: not a hook */
    unsigned hook_policies; /* enum sw_hook_policy */
    int hook_weight;
    bool is_left_out; /* with is_lint alone: an unknown hook keeps it from being applied */
};

/** A document of the rendered text, for printing: as Helm splits it, blanks around it cut off. One
 * document has no manifest (comments only), one, or several (a List). */
struct sw_rendered_doc {
    const char *path;
    int line;
    const char *text;
    size_t len;
    const char *group; /* its state's resource group, or NULL */
    const char *chart; /* its state's chart */
    size_t state;
    bool from_crds;
    unsigned hook_events;
    size_t first_manifest, n_manifests;
};

/** A template's whole output, byte for byte. */
struct sw_rendered_file {
    const char *path;
    const char *text;
    size_t len;
};

/** The result of a render. */
struct sw_rendered;
#define SW_ALL_STATES SIZE_MAX

/** Render @state, or SW_ALL_STATES. Manifests come in the order to apply them: state after state;
 * within one crds/, then hooks before install by weight, objects by kind (Helm's install order with
 * SRO's additions), the other hooks.
 * @return 0 | SW_INVALID: a template's error, "path:line: ..." for YAML, a manifest without kind,
 *         apiVersion or name | SW_NOTFOUND: the state's chart could not be fetched when the recipe
 *         was opened | SW_PENDING and others from lookup */
int sw_recipe_render(const struct sw_plan *plan, const struct sw_render_env *env, size_t state,
                     struct sw_rendered **out, struct sw_err *err) SW_CHECKED;
/** Only the templates' output, as `helm template --output-dir` is made of: no YAML is read. */
int sw_recipe_render_files(const struct sw_plan *plan, const struct sw_render_env *env,
                           size_t state, struct sw_rendered **out, struct sw_err *err) SW_CHECKED;
/** A result that another process rendered: sw_rendered_add() fills it. It has manifests alone. */
struct sw_rendered *sw_rendered_new(void);
/** Add a manifest, behind the others. @m is copied, its document kept: as text if it is large. */
void sw_rendered_add(struct sw_rendered *rendered, const struct sw_manifest *m);
/** One more reference: each is given back by sw_rendered_free(). */
struct sw_rendered *sw_rendered_ref(struct sw_rendered *rendered);
/** Documents and texts are freed with the last reference. NULL is accepted. */
void sw_rendered_free(struct sw_rendered *rendered);
SW_DEFINE_AUTO(sw_rendered, sw_rendered_free)

/** The manifests in the order to apply them. Borrowed. */
size_t sw_rendered_n_manifests(const struct sw_rendered *rendered);
/** The @i-th of them; its document until the next one is asked for. */
const struct sw_manifest *sw_rendered_manifest(const struct sw_rendered *rendered, size_t i);
/** The documents in the same order. Borrowed. */
size_t sw_rendered_n_docs(const struct sw_rendered *rendered);
/** The @i-th of them. */
const struct sw_rendered_doc *sw_rendered_doc(const struct sw_rendered *rendered, size_t i);
/** The outputs by path, without partials, NOTES.txt and outputs of blanks only; then the files of
 * crds/, as they are. */
size_t sw_rendered_n_files(const struct sw_rendered *rendered);
/** The @i-th of them. Borrowed. */
const struct sw_rendered_file *sw_rendered_file(const struct sw_rendered *rendered, size_t i);
/** What templates/NOTES.txt of the recipe gives, without blanks around it; with @of_all those of
 * its subcharts, too, by path, a newline between two, as Helm's --render-subchart-notes. "" without
 * keep_notes in the environment; the caller's. Pinned by test/golden/chart/render_test.sh. */
char *sw_rendered_notes(const struct sw_rendered *rendered, bool of_all);
