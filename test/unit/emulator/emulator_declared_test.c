/* Fields that the built-in kinds do not have. */
#include "emulator/formats/declared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"

static void fields_that_a_kind_does_not_declare_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *version, *kind, *doc, *found;
    } rows[] = {
        { "apps/v1", "Deployment",
          "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"labels\":{\"any\":"
          "\"a\"}},\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}}}",
          NULL },
        { "apps/v1", "Deployment", "{\"spec\":{\"replica\":1}}", "spec.replica" },
        { "v1", "Pod", "{\"spec\":{\"containers\":[{},{\"ports\":[{\"port\":1}]}]}}",
          "spec.containers[1].ports[0].port" },
        { "v1", "Pod", "{\"spec\":{\"volumes\":[{\"name\":\"a\",\"emptyDir\":{}}]}}", NULL },
        { "v1", "Pod", "{\"metadata\":{\"managedFields\":[{\"fieldsV1\":{\"f:x\":{}}}]}}", NULL },
        { "v1", "ConfigMap", "{\"dato\":{}}", "dato" },
        { "v1", "Service", "{\"spec\":7}", NULL },
        { "example.com/v1", "Jar", "{\"any\":1}", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = NULL;
        assert_int_equal(sw_json_parse(rows[i].doc, strlen(rows[i].doc), NULL, &doc, &err), 0);
        SW_AUTO_CHARS *found = sw_unknown_field(rows[i].version, rows[i].kind, doc);
        if (!sw_streq(found, rows[i].found))
            fail_msg("%s: %s", rows[i].doc, found ? found : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_that_a_kind_does_not_declare_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
