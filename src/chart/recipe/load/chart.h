#pragma once
/* chart: one chart as it was loaded, before any values are known. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json_object.h>

#include "base/base.h"
#include "chart/recipe/load/files.h"
#include "chart/recipe/recipe.h"
#include "chart/template/template.h"

struct sw_schema;

/** An entry of `dependencies:`. Strings are the document's; "" where missing. */
struct sw_dependency {
    const char *name;
    const char *version;
    const char *repository;
    const char *alias;
    const char *condition;
    struct json_object *tags;          /* list, or NULL */
    struct json_object *import_values; /* list, or NULL */
    struct json_object *depends_on;    /* list, or NULL */
    struct json_object *doc;           /* the whole entry */
};

/** Annotations found in a template's text before it is rendered; a bit each. */
enum sw_template_mark {
    SW_MARK_KERNEL_AFFINE = 1 << 0, /* SRO's annotation, as a key in its text */
    SW_MARK_GROUP = 1 << 1,         /* HIP-0025's annotation of resource groups */
};

/** Which subcharts are releases of their own (plan/own_release.h). */
#define SW_ANN_RELEASES "slipway.dev/releases"
/** The name by which resources share the objects of its states (plan/shared_objects.h). On an
 * object "false": it is the resource's own all the same. */
#define SW_ANN_SHARED_OBJECTS "slipway.dev/shared-objects"
/** The named template that prints the name of the chart's states (plan/state_name.h). */
#define SW_ANN_STATE_NAME "slipway.dev/state-name"
/** In a bundle or a package: the chart with this file has any_version. Helm takes no such file for
 * a chart. */
#define SW_ANY_VERSION_FILE "charts/.any-version"
/** In a bundle: the chart with this file could not be fetched, and has nothing to render; the file
 * says why. */
#define SW_NOT_FETCHED_FILE "charts/.not-fetched"

/** One chart. Members are in the recipe's arena or sources unless they say otherwise. */
struct sw_chart {
    const char *name;
    const char *version;
    const char *origin; /* its source, for messages: "recipes/x/charts/y" */
    const char *dir;    /* its folder on disk; NULL: none */
    const char *base;   /* where it was fetched from, for its file:// URLs; NULL: not fetched */
    const struct sw_recipe_file *in; /* all its files, those in charts/ too */
    size_t n_in;
    const char *digest;       /* of the archive that was fetched, "sha256:<hex>"; NULL: not known */
    struct json_object *meta; /* Chart.yaml; owned by the recipe */
    bool any_version;         /* it was put in the place of the version that a dependency names */
    const char *not_fetched;  /* why it could not be fetched; NULL: it was */
    bool is_library;
    struct sw_recipe_file *templates; /* names as in the chart: "templates/a.yaml"; sorted */
    uint8_t *marks;                   /* of each template, enum sw_template_mark */
    size_t n_templates;
    struct sw_recipe_file *files;            /* what .Files sees, crds/ included; sorted */
    struct sw_template_file *template_files; /* the same, for the template module */
    size_t n_files;
    const struct sw_recipe_file *schema_text; /* values.schema.json; NULL: none */
    struct sw_schema *schema; /* of it, read when first needed; owned by the recipe */
    struct sw_value values;   /* values.yaml: a map */
    struct sw_dependency *deps;
    size_t n_deps;
    struct sw_chart **charts; /* subcharts that were found, by dependency or in charts/ */
    size_t n_charts;
};

/** The recipe: its root chart and all memory that charts point into. */
struct sw_recipe {
    struct sw_arena *arena;
    struct sw_chart *root;
    struct sw_recipe_opts limits;
    struct sw_files *sources; /* the bytes of all files */
    size_t n_sources, cap_sources;
    struct sw_chart **charts; /* all of them */
    size_t n_charts, cap_charts;
    struct sw_template_cache *templates; /* parsed templates, by what is enabled */
};

/** Read Chart.yaml (and requirements.yaml of apiVersion v1) of @files into @chart.
 * @return 0 | SW_INVALID, naming file and field */
int sw_chart_read_metadata(struct sw_recipe *recipe, struct sw_chart *chart,
                           const struct sw_recipe_file *files, size_t n,
                           struct sw_err *err) SW_CHECKED;

/** The subchart that fits @dep; else the last one of its name, of any version; NULL: none. */
struct sw_chart *sw_chart_of_dependency(const struct sw_chart *chart,
                                        const struct sw_dependency *dep);
/** Whether @chart may be the dependency of @range; "": of any version. */
bool sw_chart_fits(const struct sw_chart *chart, const char *range);
/** Whether @version lies in @range (">= 1.16.0-0", "~1.2 || ^3"); false where one is malformed.
 * Source: Helm's chartutil.IsCompatibleRange. */
bool sw_version_in_range(const char *range, const char *version);

/** Whether a file of a chart is one of its CRDs: crds/ and a manifest's extension. */
bool sw_recipe_is_crd(const char *name);

/** Check that a fetched chart has this name and version; NULL: any. @return 0 | SW_INVALID */
int sw_chart_check_got(const struct sw_chart *chart, const char *name, const char *version,
                       struct sw_err *err) SW_CHECKED;

/** An annotation of Chart.yaml, or NULL. Borrowed. */
const char *sw_chart_annotation(const struct sw_chart *chart, const char *key);

/** The chart's schema, read at its first use. @*out: NULL where it has none.
 * @return 0 | SW_INVALID: not a schema */
int sw_chart_schema(const struct sw_chart *chart, const struct sw_schema **out,
                    struct sw_err *err) SW_CHECKED;

/** The place of a chart. Strings are borrowed. */
struct sw_chart_place {
    const char *origin; /* for messages */
    const char *dir;    /* its folder on disk; NULL: none */
    const char *base;   /* where it was fetched from; NULL: not fetched */
};

/** Load the root chart from @files, a table of the recipe's sources, with its subcharts.
 * @return as sw_recipe_open */
int sw_chart_load_root(struct sw_recipe *recipe, const struct sw_chart_place *place,
                       const struct sw_files *files, struct sw_err *err) SW_CHECKED;
