#pragma once
/* semver: semantic versions and constraints, as in github.com/Masterminds/semver/v3 3.5, which
 * Helm uses for semverCompare and for the versions of dependencies. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** A version; its texts are borrowed from the text that was parsed. */
struct sw_semver {
    uint64_t major, minor, patch;
    const char *pre; /* "rc.1" */
    size_t pre_len;
    const char *meta; /* "build.5" */
    size_t meta_len;
};

/** Read a version. A leading v, missing minor and patch numbers are allowed ("v1.20").
 * @return 0 | SW_INVALID. Pinned by test/unit/data/data_semver_test.c. */
int sw_semver_parse(const char *text, size_t len_bytes, struct sw_semver *out, struct sw_err *err);

/** Compare by the precedence of the specification; build metadata is ignored. @return <0, 0, >0 */
int sw_semver_compare(const struct sw_semver *a, const struct sw_semver *b);

/** The version's text, "1.2.3-rc.1+b5"; the caller frees it. */
char *sw_semver_text(const struct sw_semver *v) SW_CHECKED;

/** A constraint on versions: "^1.2", "~1.2.3", ">=1.2, <2.0 || 3.x", "1.0 - 2.3", "*".
 * A prerelease only satisfies constraints of which one, between two "||", names a prerelease. */
struct sw_semver_range;
/** Parse a constraint. @*out is the caller's: sw_semver_range_free().
 * @return 0 | SW_INVALID "improper constraint: ..." */
int sw_semver_range_parse(const char *text, size_t len_bytes, struct sw_semver_range **out,
                          struct sw_err *err) SW_CHECKED;
/** Free the constraint. NULL is allowed. */
void sw_semver_range_free(struct sw_semver_range *range);
SW_DEFINE_AUTO(sw_semver_range, sw_semver_range_free)
/** Whether the version @v satisfies the constraint. */
bool sw_semver_range_has(const struct sw_semver_range *range, const struct sw_semver *v);
