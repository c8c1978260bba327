#pragma once
/* aicr: the recipes of NVIDIA's AI Cluster Runtime (AICR). A catalogue is a folder of overlays,
 * which inherit from each other and say for which clusters they are; criteria choose among them,
 * and what they say together is a RecipeResult: components (charts with values and manifests),
 * which one comes after which, and what the cluster must have. All documents are json-c trees with
 * the fields of AICR's own format. Sources: NVIDIA/aicr, docs and pkg/recipe; recipes/ of release
 * 0.11.1 (aicr.nvidia.com/v1alpha1) to 1.3 (aicr.run/v1beta1). */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** A file of a catalogue or of a bundle; @bytes are ended by a NUL besides. */
struct sw_aicr_file {
    const char *name; /* "overlays/eks.yaml" */
    const char *bytes;
    size_t len;
};
/** Files by name, in byte order; all is borrowed. */
struct sw_aicr_files {
    const struct sw_aicr_file *items;
    size_t n;
};
/** NULL: there is none of that name. */
const struct sw_aicr_file *sw_aicr_find(const struct sw_aicr_files *files, const char *name);

/** A catalogue: registry.yaml, overlays/, mixins/, components/, checks/. */
struct sw_aicr_catalog;
/** Read the catalogue in @files, which it borrows. @origin: for messages. @*out is the caller's:
 * sw_aicr_catalog_free(). @return 0 | SW_INVALID: the file and what is wrong in it */
int sw_aicr_catalog_open(const char *origin, const struct sw_aicr_files *files,
                         struct sw_aicr_catalog **out, struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_aicr_catalog_free(struct sw_aicr_catalog *catalog);
SW_DEFINE_AUTO(sw_aicr_catalog, sw_aicr_catalog_free)
/** The file @path of the catalogue ("components/x/values.yaml"), borrowed.
 * @return 0 | SW_NOTFOUND */
int sw_aicr_file(const struct sw_aicr_catalog *catalog, const char *path,
                 const struct sw_aicr_file **out, struct sw_err *err) SW_CHECKED;
/** The component's entry in registry.yaml, borrowed; NULL: it has none. */
struct json_object *sw_aicr_component(const struct sw_aicr_catalog *catalog, const char *name);
/** The names of the overlays, in order; borrowed. */
struct json_object *sw_aicr_overlays(const struct sw_aicr_catalog *catalog);
/** spec.criteria of an overlay, borrowed; NULL: there is no such overlay, or it has none. */
struct json_object *sw_aicr_overlay_criteria(const struct sw_aicr_catalog *catalog,
                                             const char *overlay);

/** Read "service=eks,accelerator=h100,os=ubuntu,intent=training,platform=kubeflow,nodes=8"; what is
 * not named is "any". A value that no overlay has is refused with those that they have. @*out is
 * the caller's. @return 0 | SW_INVALID */
int sw_aicr_criteria(const struct sw_aicr_catalog *catalog, const char *text,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The RecipeResult for @criteria, as `aicr recipe` answers; the caller's.
 * @return 0 | SW_INVALID: an overlay, a mixin or a dependency that is missing, a circle, a profile
 * to be chosen */
int sw_aicr_resolve(const struct sw_aicr_catalog *catalog, struct json_object *criteria,
                    struct json_object **out, struct sw_err *err) SW_CHECKED;

/** Read a RecipeResult. @file: for messages. A version or a field that is not known is refused by
 * its name. @*out is the caller's. @return 0 | SW_INVALID */
int sw_aicr_result_read(const char *file, const char *text, size_t len_bytes,
                        struct json_object **out, struct sw_err *err) SW_CHECKED;
/** Its text, with the fields in AICR's order; the caller's. */
char *sw_aicr_result_text(struct json_object *result) SW_CHECKED;

/** Merge the map @from into @to: maps deep, all else replaced by a copy; null replaces, too. */
void sw_aicr_merge(struct json_object *to, struct json_object *from);
/** `overrides.enabled` and `overrides.install` of a component: is it to be installed? */
bool sw_aicr_is_enabled(struct json_object *component);
/** Where pods go that belong to the cluster's own nodes, and those for nodes with GPUs: node
 * selectors
 * ("KEY=VALUE,...") and tolerations ("KEY=VALUE:EFFECT,...", "KEY:EFFECT"), as `aicr bundle` takes
 * them. NULL: no selector; tolerations of all taints. Texts are borrowed. */
struct sw_aicr_scheduling {
    const char *system_selector, *system_tolerations;
    const char *accelerated_selector, *accelerated_tolerations;
};
/** Such tolerations as a list of Kubernetes'; the caller's. @text NULL: of all taints. @return 0 |
 * SW_INVALID */
int sw_aicr_tolerations(const char *text, struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The values of @component of a RecipeResult: the catalogue's, those of its valuesFile, its
 * overrides, then @scheduling (NULL: AICR's defaults) where the registry says that it belongs.
 * @*out is the caller's. @return 0 | SW_NOTFOUND, SW_INVALID: a file of the catalogue, a selector
 */
int sw_aicr_values(const struct sw_aicr_catalog *catalog, struct json_object *component,
                   const struct sw_aicr_scheduling *scheduling, struct json_object **out,
                   struct sw_err *err) SW_CHECKED;

/* ---- recipes of slipway made of them -----------------------------------------------------------
 */

/** How a recipe is made; zero values are the defaults. All is borrowed. */
struct sw_aicr_opts {
    const char *name;     /* of the recipe; NULL: made of its criteria */
    const char *criteria; /* of a catalogue: what it is resolved for */
    /** The catalogue of a RecipeResult alone, for values, manifests and checks; of a bundle, for
     * its checks. NULL: there is none. */
    const struct sw_aicr_files *data;
    const struct sw_aicr_scheduling *scheduling; /* with a catalogue; NULL: AICR's defaults */
};
/** A recipe that was made. Zero-initialise; sw_aicr_made_done(). All is owned. */
struct sw_aicr_made {
    struct sw_aicr_file *files; /* of the chart: Chart.yaml, values.yaml, charts/... */
    size_t n_files, cap;
    struct json_object *result; /* the RecipeResult */
    struct json_object *notes;  /* what is left out, and why: a list of sentences */
};
void sw_aicr_made_done(struct sw_aicr_made *made);

/** Are @files a catalogue, a bundle or a RecipeResult ("recipe.yaml" alone), and no chart? */
bool sw_aicr_is_source(const struct sw_aicr_files *files);
/** Has the text of a file the kind RecipeResult? */
bool sw_aicr_is_result(const char *text, size_t len_bytes);
/** The RecipeResult of such @files; of a catalogue the one for opts->criteria. @*out is the
 * caller's. @return 0 | SW_INVALID */
int sw_aicr_read(const char *origin, const struct sw_aicr_files *files,
                 const struct sw_aicr_opts *opts, struct json_object **out,
                 struct sw_err *err) SW_CHECKED;
/** The chart that walks what @files are: its dependencies are the components' charts, each a
 * release of its own; manifests and health checks are charts of the recipe itself. @origin: for
 * messages. @return 0 | SW_INVALID: a component that has no counterpart, a file that is not what
 * its checksum says, criteria that are missing | SW_NOTFOUND: a file */
int sw_aicr_make(const char *origin, const struct sw_aicr_files *files,
                 const struct sw_aicr_opts *opts, struct sw_aicr_made *made,
                 struct sw_err *err) SW_CHECKED;
