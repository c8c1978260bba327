#pragma once
/* bundle: the files of a bundle of AICR. Up to release 0.11 a folder for each component has its
 * values and rendered manifests; since then folders are numbered, manifests are charts of their
 * own, "<component>-pre" and "<component>-post", upstream.env says which chart is meant, and
 * charts may be inside (--vendor-charts). Internal to aicr. Source: NVIDIA/aicr,
 * pkg/bundler/deployer/localformat. */
#include "chart/aicr/aicr.h"

struct sw_aicr_bundle;
/** The bundle in @files, which it borrows. @origin: for messages. @*out is the caller's:
 * sw_aicr_bundle_free(). @return 0 | SW_INVALID: a file is not what checksums.txt says, two folders
 * of one name */
int sw_aicr_bundle_open(const char *origin, const struct sw_aicr_files *files,
                        struct sw_aicr_bundle **out, struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_aicr_bundle_free(struct sw_aicr_bundle *bundle);
SW_DEFINE_AUTO(sw_aicr_bundle, sw_aicr_bundle_free)
/** Has it no checksums.txt, so that its files are taken as they are? */
bool sw_aicr_bundle_is_unchecked(const struct sw_aicr_bundle *bundle);

/** The chart of a component, as it is installed; zero-initialise, sw_aicr_chart_done(). */
struct sw_aicr_chart {
    char *name, *version, *repository; /* @repository "": it is inside, or there is none */
    /** Files of the bundle from this place on are charts/ of the recipe; "": none. */
    char *inside;
};
void sw_aicr_chart_done(struct sw_aicr_chart *chart);
/** The chart of @component of the bundle's RecipeResult: what upstream.env says, else the recipe;
 * of a vendored one what its wrapper asks for. @return 0 | SW_INVALID */
int sw_aicr_bundle_chart(const struct sw_aicr_bundle *bundle, struct json_object *component,
                         struct sw_aicr_chart *out, struct sw_err *err) SW_CHECKED;
/** The values of the component @name, cluster-values.yaml over values.yaml; {}: it has none.
 * @chart: the chart inside that they are for, below whose name they are; NULL: none. @*out is the
 * caller's. @return 0 | SW_INVALID: not what checksums.txt says, no YAML */
int sw_aicr_bundle_values(const struct sw_aicr_bundle *bundle, const char *name, const char *chart,
                          struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The manifests of the chart @name ("x-pre", "x-post", or "x" where it is manifests alone), of
 * which the recipe names @files of the component @component: a list of {name, text}, which is the
 * caller's. A manifest that is empty when it is rendered is not in a bundle. @*is_template: they
 * are a chart's templates; else they are rendered. @return 0 | SW_INVALID */
int sw_aicr_bundle_manifests(const struct sw_aicr_bundle *bundle, const char *component,
                             const char *name, struct json_object *files, bool *is_template,
                             struct json_object **out, struct sw_err *err) SW_CHECKED;
