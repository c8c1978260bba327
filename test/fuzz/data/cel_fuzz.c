/* An expression of admission, over a request: it compiles or is refused, and ends. */
#include <assert.h>
#include <string.h>

#include "data/cel/cel.h"
#include "data/data.h"

static const char object[] =
    "{\"metadata\":{\"name\":\"x\",\"labels\":{\"app\":\"y\"}},\"list\":[1,"
    "2.5,\"z\",null],\"time\":\"2024-01-02T03:04:05Z\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sw_cel_variable variables[] = { { "object", SW_CEL_DYN, NULL },
                                                        { "authorizer", SW_CEL_AUTHORIZER, NULL } };
    static const struct sw_cel_env env = { .variables = variables, .n_variables = 2 };
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, size);
    SW_AUTO_JSON *root = NULL, *out = NULL;
    SW_AUTO(sw_cel) *cel = NULL;
    SW_ERR(err);
    int rc = sw_json_parse(object, sizeof object - 1, NULL, &root, &err);
    assert(rc == 0);
    rc = sw_cel_compile(text, &env, &cel, &err);
    assert(rc == 0 || (rc == SW_INVALID && strstr(sw_err_text(&err), "ERROR: <input>:")));
    if (rc < 0)
        return 0;
    json_object *const values[] = { root, NULL };
    const struct sw_cel_input input = { .values = values, .limit = 20000 };
    rc = sw_cel_run(cel, &input, &out, NULL, &err);
    assert(rc == 0 || rc == SW_INVALID);
    return 0;
}
