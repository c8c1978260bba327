#include "data/json/pointer.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/path.h"

void sw_pointer_done(struct sw_pointer *pointer)
{
    for (size_t i = 0; i < pointer->n; i++)
        free(pointer->tokens[i]);
    free(pointer->tokens);
    *pointer = (struct sw_pointer){ 0 };
}

/* Unescape a token: "~1" is "/", "~0" is "~". @return NULL: another character follows '~' */
static char *unescape(const char *text, size_t len)
{
    char *out = sw_strndup(text, len), *to = out;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '~') {
            *to++ = text[i];
            continue;
        }
        i++;
        if (i == len || (text[i] != '0' && text[i] != '1')) {
            free(out);
            return NULL;
        }
        *to++ = text[i] == '0' ? '~' : '/';
    }
    *to = '\0';
    return out;
}

int sw_pointer_parse(const char *text, struct sw_pointer *out, struct sw_err *err)
{
    struct sw_pointer p = { 0 };
    if (*text && *text != '/')
        return sw_err_set(err, SW_INVALID, "'%s' is no JSON pointer: it does not begin with '/'",
                          text);
    for (const char *at = text; *at;) {
        size_t len = strcspn(++at, "/");
        char *token = unescape(at, len);
        if (!token) {
            sw_pointer_done(&p);
            return sw_err_set(err, SW_INVALID,
                              "'%s' is no JSON pointer: '~' must be followed by 0 or 1", text);
        }
        SW_GROW(p.tokens, p.n, p.cap);
        p.tokens[p.n++] = token;
        at += len;
    }
    *out = p;
    return 0;
}

bool sw_pointer_index(const char *token, size_t *index)
{
    size_t v = 0;
    if (!*token || (token[0] == '0' && token[1]))
        return false;
    for (; *token; token++) {
        if (*token < '0' || *token > '9' || __builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (size_t)(*token - '0'), &v))
            return false;
    }
    *index = v;
    return true;
}

int sw_json_pointer(struct json_object *doc, const char *pointer, struct json_object **out,
                    struct sw_err *err)
{
    struct sw_pointer p = { 0 };
    int rc = sw_pointer_parse(pointer, &p, err);
    if (rc < 0)
        return rc;
    bool found = true;
    for (size_t i = 0; i < p.n && found; i++) {
        size_t index;
        if (json_object_is_type(doc, json_type_array)) {
            found = sw_pointer_index(p.tokens[i], &index) && index < json_object_array_length(doc);
            doc = found ? json_object_array_get_idx(doc, index) : NULL;
        } else {
            found = json_object_is_type(doc, json_type_object) &&
                    json_object_object_get_ex(doc, p.tokens[i], &doc);
        }
    }
    sw_pointer_done(&p);
    if (!found)
        return sw_err_set(err, SW_NOTFOUND, "nothing is at '%s'", pointer);
    *out = doc;
    return 0;
}
