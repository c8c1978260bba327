#include "chart/recipe/load/names.h"

#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"

struct json_object *sw_recipe_names(struct json_object *value, struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    if (json_object_is_type(value, json_type_array)) {
        list = json_object_get(value);
    } else {
        const char *text = value ? json_object_get_string(value) : "";
        if (text[strspn(text, " \t\n")] != '[') {
            static const char between[] = ", \t\n";
            list = json_object_new_array();
            for (text += strspn(text, between); *text; text += strspn(text, between)) {
                size_t len = strcspn(text, between);
                (void)json_object_array_add(list, json_object_new_string_len(text, (int)len));
                text += len;
            }
            return SW_TAKE(list);
        }
        if (sw_json_parse(text, strlen(text), NULL, &list, err) < 0)
            return NULL;
    }
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (!json_object_is_type(sw_json_at(list, i), json_type_string)) {
            (void)sw_err_set(err, SW_INVALID, "[%zu]: expected a string", i);
            return NULL;
        }
    return SW_TAKE(list);
}
