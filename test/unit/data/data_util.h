#pragma once
/* Documents in tests: from their text, and compared with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"

/** @return the document, the caller's; the test fails where the text is none */
static inline struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

/** @got is what @want says, but for the order of keys. */
static inline void check(struct json_object *got, const char *want)
{
    SW_AUTO_JSON *w = parse(want);
    if (!sw_json_equal(got, w))
        fail_msg("want %s, got %s", want, json_object_to_json_string(got));
}
