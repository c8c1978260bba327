#pragma once
/* marks: values in documents that JSON has no types for: texts and maps that are marked. Internal
 * to cel. */
#include <json-c/json.h>

/** How a document's value is marked. */
enum sw_cel_mark { SW_CEL_PLAIN, SW_CEL_QUANTITY, SW_CEL_SEMVER, SW_CEL_OPEN_MAP };
/** The mark of a value. */
enum sw_cel_mark sw_cel_mark(json_object *value);
