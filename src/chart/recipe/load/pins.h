#pragma once
/* pins: which chart was taken for each dependency, and the files that pin it to that. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

/** Where digests are kept, beside Chart.lock: "charts:", a list of maps with name, version,
 * repository and digest ("sha256:<hex>"). */
#define SW_DIGESTS_FILE "slipway.lock"

/** A dependency that is fetched, and the chart that was taken for it. All is borrowed from the
 * recipe. */
struct sw_pin {
    const char *in;            /* the origin of the chart that has the dependency */
    const char *name;          /* of the dependency */
    const char *key;           /* of its values: its alias, else its name */
    const char *repository;    /* its URL */
    const char *asked;         /* in Chart.yaml: a version, or a range of them */
    const char *version;       /* that was taken; NULL: any version stands for a range */
    const char *digest;        /* of the archive, "sha256:<hex>"; "": not known */
    const char *locked;        /* the version in Chart.lock; "": there is none */
    const char *locked_digest; /* in slipway.lock, of that version; "": none */
    const char *known_digest;  /* in slipway.lock, of the version that was taken; "": none */
    const char *app;           /* its appVersion; "": none */
    size_t chart;              /* that was taken: its index in the recipe */
    bool is_own;               /* of the root chart */
    bool stands_for;           /* it was put in the place of the version that is asked for */
    bool is_stale; /* Chart.lock is of other dependencies, or slipway.lock has digests of
                      other versions of it alone: nothing is fetched by them */
};

/** The dependencies of the root chart, and of those charts that are folders of this machine, which
 * are fetched; not those that are in charts/ or folders themselves. @*n: how many; the caller frees
 * the list. */
struct sw_pin *sw_recipe_pins(const struct sw_recipe *recipe, size_t *n);

/** The text of the root chart's Chart.lock, the caller's. @now_s: when it is made, since 1970.
 * @return 0 | SW_INVALID: a chart stands for a range of versions, or is missing
 * Source: Helm 3.21.4 pkg/downloader Manager. Pinned by test/emulator/chart/vendor_test.sh. */
int sw_recipe_lock_text(const struct sw_recipe *recipe, int64_t now_s, char **out,
                        struct sw_err *err) SW_CHECKED;
/** The text of its slipway.lock, the caller's. NULL: no digest is known. */
char *sw_recipe_digests_text(const struct sw_recipe *recipe);

/** @text, a Chart.yaml, with @version for its dependency @name, and all else as it is; the
 * caller's. @app: its appVersion from then on; NULL: as it is. @file is for messages.
 * @return 0 | SW_INVALID: it is written in a way that only people can change */
int sw_chart_text_pinned(const char *file, const char *text, const char *name, const char *version,
                         const char *app, char **out, struct sw_err *err) SW_CHECKED;
