#pragma once
/* fix: what `slipway lint --fix` changes in the files of a recipe. Lines are changed in place, so
 * that comments, order and layout stay. A change is made only where there is one way to make it,
 * and it means the same afterwards, or what was meant; doing it twice changes nothing more. */
#include <stddef.h>

#include "base/base.h"

/** One change. */
struct sw_fix {
    char *path; /* of the file; owned */
    int line;
    char *text; /* what was, what is now; owned */
};

/** Zero-initialise; sw_fixes_done(). */
struct sw_fixes {
    struct sw_fix *items; /* owned */
    size_t n, cap;
};
/** Free the changes; the list is empty then. */
void sw_fixes_done(struct sw_fixes *fixes);

/** What a file is, by which is known what may be changed in it. */
enum sw_fix_kind {
    SW_FIX_MANIFESTS, /* YAML, or templates of it */
    SW_FIX_CHART,     /* Chart.yaml */
    SW_FIX_VALUES,    /* YAML that means nothing by itself */
};

/** How files are changed. */
struct sw_fix_opts {
    int kube_minor;         /* deprecated APIs are those of Kubernetes 1.@kube_minor */
    const char *kube_range; /* the versions that the chart is for (kubeVersion); NULL: any */
    bool has_requirements;  /* the chart has a requirements.yaml, which only apiVersion v1 reads */
};

/** The text @text of the file @path with what can be changed, and the changes, added to @fixes.
 * @return the new text, NUL-terminated and the caller's; NULL: there is nothing to change.
 * Pinned by test/unit/cli/cli_fix_test.c. */
char *sw_fix_text(const char *path, enum sw_fix_kind kind, const char *text, size_t len,
                  const struct sw_fix_opts *opts, struct sw_fixes *fixes) SW_CHECKED;

/** Change the files of the recipe in the folder @path, or the file of manifests @path: Chart.yaml,
 * values.yaml, the recipe's own resource, what is in templates/ and crds/, and the same of charts
 * in charts/ that come from nowhere else. Links are left alone. @kube_minor: as above.
 * @return 0 | why a file cannot be read or written; @fixes has what was changed before
 * Pinned by test/golden/cli/lint_fix_test.sh. */
int sw_fix_files(const char *path, int kube_minor, struct sw_fixes *fixes,
                 struct sw_err *err) SW_CHECKED;
