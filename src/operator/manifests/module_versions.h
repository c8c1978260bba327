#pragma once
/* module_versions: for which versions of OpenShift a SpecialResourceModule works: what is at the
 * watched paths. */
#include "base/base.h"

struct json_object;

/** Add what @object has at the path of @watch, one of spec.watch, to @entries, strings: versions
 * and release images, each once. Nothing, where the selector does not choose @object.
 * @return 0 | SW_INVALID: a path is none */
int sw_module_collect(struct json_object *watch, struct json_object *object,
                      struct json_object *entries, struct sw_err *err) SW_CHECKED;
/** Add @more, which was found before, each once. */
void sw_module_add(struct json_object *entries, struct json_object *more);
/** Whether @entry is a version; else it is a release image. */
bool sw_module_is_version(const char *entry);
