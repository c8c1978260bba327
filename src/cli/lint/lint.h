#pragma once
/* lint: what is wrong or doubtful in a recipe, found without a cluster. */
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

/** One finding. */
struct sw_problem {
    bool is_error; /* else a warning */
    char *path;    /* of the template or file; "" where there is none. Owned */
    int line;      /* of what the template renders to; 0: none */
    char *text;    /* owned */
};

/** Zero-initialise. */
struct sw_problems {
    struct sw_problem *items; /* owned */
    size_t n, cap;
};
/** Free the findings; the list is empty then. */
void sw_problems_done(struct sw_problems *problems);
/** Add a finding; @path and the text are copied. @line: 0 where there is none. */
void sw_problems_add(struct sw_problems *problems, bool is_error, const char *path, int line,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** A text that could not be rendered or read: @text as an error at the place that it names
 * ("template: c/templates/t.yaml:2:13: ...", "c/templates/t.yaml:2: ..."). */
void sw_lint_failure(const char *text, struct sw_problems *problems);
/** The YAML of each file that was rendered: all that is wrong, where sw_recipe_render() ends with
 * the first. */
void sw_lint_files(const struct sw_rendered *files, struct sw_problems *problems);

/** Manifests as they are written, in one file named @name: what they are made of, and which
 * SpecialResources among them take the same nodes. */
void sw_lint_manifests(const char *name, const char *bytes, size_t len,
                       struct sw_problems *problems);
/** The same of the recipe's own SpecialResource, <name>.yaml, where it has one. */
void sw_lint_base(const struct sw_recipe *recipe, struct sw_problems *problems);

/** Chart.yaml of the recipe and of what it depends on: annotations without effect, and an
 * apiVersion that Helm does not have. */
void sw_lint_charts(const struct sw_recipe *recipe, struct sw_problems *problems);

/** Check all that @rendered holds; @resource is the name that node labels will carry. Each check
 * is a row of a table in lint.c. Pinned by test/golden/cli/lint_test.sh. */
void sw_lint(const struct sw_plan *plan, const struct sw_rendered *rendered, const char *resource,
             struct sw_problems *problems);
