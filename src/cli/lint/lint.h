#pragma once
/* lint: errors and warnings about a recipe, found without a cluster. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;

/** One finding. */
struct sw_problem {
    bool is_error; /* else a warning */
    bool is_note;  /* neither: what a state has chosen */
    char *path;    /* of the template or file, or "". Owned */
    int line;      /* of the rendered template, or of the file; 0: none */
    char *text;    /* owned */
};

/** Zero-initialise. */
struct sw_problems {
    struct sw_problem *items; /* owned */
    size_t n, cap;
};
/** Free the findings; the list is empty then. */
void sw_problems_done(struct sw_problems *problems);
/** Add a finding; @path and the text are copied. @line 0: none. */
void sw_problems_add(struct sw_problems *problems, bool is_error, const char *path, int line,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/** Add the error of sw_yaml_parse() for a text without a name, "line:column: reason". @line: used
 * if @text has none */
void sw_problems_add_yaml(struct sw_problems *problems, const char *path, int line,
                          const char *text);

/** Add @text, the message of a template that could not be rendered or read, with the place that it
 * names ("template: c/templates/t.yaml:2:13: ...", "c/templates/t.yaml:2: ..."). */
void sw_lint_failure(const char *text, struct sw_problems *problems);
/** Parse the YAML of a rendered file and add its errors. @return whether there is one */
bool sw_lint_file(const struct sw_rendered_file *file, struct sw_problems *problems);

/** Check the manifests of a file: their fields, and SpecialResources that select the same nodes.
 * @name: of the file */
void sw_lint_manifests(const char *name, const char *bytes, size_t len,
                       struct sw_problems *problems);
/** Check the recipe's own SpecialResource, <name>.yaml, if it has one. */
void sw_lint_base(const struct sw_recipe *recipe, struct sw_problems *problems);

/** Check Chart.yaml of the recipe and its dependencies: annotations and apiVersion. */
void sw_lint_charts(const struct sw_recipe *recipe, struct sw_problems *problems);

/** An annotation that a chart may have, in Chart.yaml. */
struct sw_chart_annotation {
    const char *name;
    const char *on; /* the value that switches it on ("false" and "none" are allowed, too); NULL:
                     * planning checks it */
    const char *doc, *example;
};
/** Ends with a NULL name. */
extern const struct sw_chart_annotation sw_chart_annotations[];
/** Their names, ends with NULL. Borrowed. */
const char *const *sw_chart_annotation_names(void);

/** Warn of values in @set, which a user has set, and of those of values.yaml that nothing reads
 * (cli/recipe/unread_values.h). */
void sw_lint_values(const struct sw_recipe *recipe, struct json_object *set,
                    struct sw_problems *problems);

/** Check all rendered manifests and the states. @resource: the name in node labels. @is_whole: no
 * manifest lacks because it cannot be read, so that what lacks may be told. Each check of manifests
 * is a row of a table in lint.c. Pinned by test/golden/cli/lint_test.sh. */
void sw_lint(const struct sw_plan *plan, const struct sw_rendered *rendered, const char *resource,
             bool is_whole, struct sw_problems *problems);

/** Check what `helm lint` checks and the above do not, with its severity: Chart.yaml of the root
 * chart, names, selectors, APIs that are deprecated in @kube_version ("v1.36.0"). @rendered: NULL:
 * nothing was. Source: Helm 3.21 pkg/lint/rules. Pinned by test/golden/cli/lint_helm_test.sh. */
void sw_lint_helm(const struct sw_recipe *recipe, const struct sw_rendered *rendered,
                  const char *kube_version, struct sw_problems *problems);
