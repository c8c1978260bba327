#pragma once
/* deprecated: the APIs that Kubernetes gives up: when, what takes their place, and whether that has
 * the same fields. Source: the lifecycle marks of k8s.io/api 0.36, and for the fields Kubernetes'
 * "Deprecated API Migration Guide". Pinned by test/golden/cli/lint_helm_test.sh and
 * lint_fix_test.sh. */
#include "base/base.h"

/** One kind of one API version. Minor versions are those of Kubernetes 1.x. */
struct sw_deprecated {
    const char *api_version, *kind;
    int since, until;    /* deprecated from, not served from on; 0: it stays */
    const char *instead; /* what to use, in the words of Kubernetes; NULL: nothing is named */
    const char *same;    /* the API version that takes a manifest as it is; NULL: none does */
    int same_since;      /* served from on */
    enum sw_deprecated_if {
        SW_DEPRECATED_ALWAYS,
        SW_DEPRECATED_SELECTOR, /* @same is so only with a spec.selector, which had a default, and
                                 * without fields that went */
        SW_DEPRECATED_MATCHES,  /* @same is so only with a selector that asks for something */
    } same_if;
};

/** Ends with a NULL kind. */
extern const struct sw_deprecated sw_deprecated[];

/** The row of a kind, borrowed; NULL: it is not deprecated. */
const struct sw_deprecated *sw_deprecated_find(const char *api_version, const char *kind);
