#pragma once
/* unread_values: values that nothing reads, mostly misspelt ones: those that a user gives, and
 * those of values.yaml. It searches texts: what is read as a whole, or by a name that is computed,
 * counts as read. */
#include <stdbool.h>

struct json_object;
struct sw_recipe;

/** @line: of values.yaml; 0: none. @text: borrowed. */
typedef void sw_unread_fn(void *arg, int line, const char *text);

/** Call @fn for the values in @set, which a user gives, that neither the recipe's values.yaml nor
 * any of its files has: at the top all of them (unless a template reads `.Values` as a whole),
 * below where a name that is there is near. With @known_too for those, too, that values.yaml has
 * and no template reads. Of charts that could not be fetched nothing is known: what may be theirs
 * is not told. Pinned by test/golden/cli/lint_test.sh and test/emulator/cli/warnings_test.sh. */
void sw_unread_given(const struct sw_recipe *recipe, struct json_object *set, bool known_too,
                     sw_unread_fn *fn, void *arg);
/** Call @fn for the values of values.yaml that no template reads. */
void sw_unread_defaults(const struct sw_recipe *recipe, sw_unread_fn *fn, void *arg);
/** Print a warning on stderr for each of sw_unread_given(). @command: "run" */
void sw_unread_warn(const struct sw_recipe *recipe, struct json_object *set, const char *command);
