#include "data/json/redact.h"

#include <json-c/json.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "data/json/hash.h"
#include "data/json/path.h"
#include "data/text/url.h"

static const char *const secret_words[] = { "password",    "passwd",   "token",      "secret",
                                            "apikey",      "api_key",  "credential", "privatekey",
                                            "private_key", "certfile", "keyfile" };

/* Names that contain such a word but refer to a secret instead of holding one. */
static const char *const harmless[] = { "secretname",
                                        "secretref",
                                        "secretkeyref",
                                        "imagepullsecrets",
                                        "automountserviceaccounttoken",
                                        "pullsecret",
                                        "pushsecret",
                                        "pushsecretname",
                                        "serviceaccounttoken",
                                        "tokenreviews",
                                        "secrets",
                                        "secret" };

static bool is_secret_name(const char *name)
{
    for (size_t i = 0; i < SW_COUNT(harmless); i++)
        if (strcasecmp(name, harmless[i]) == 0)
            return false;
    for (size_t i = 0; i < SW_COUNT(secret_words); i++)
        if (strcasestr(name, secret_words[i]))
            return true;
    return false;
}

/* With a salt, equal values have equal marks, so that a reader can see which values change. */
static struct json_object *mark(struct json_object *value, const char *salt)
{
    int len = json_object_get_string_len(value);
    if (!salt) {
        SW_AUTO_CHARS *plain = sw_printf("<%d bytes redacted>", len);
        return json_object_new_string(plain);
    }
    char hex[SW_SHA256_HEX];
    SW_AUTO_CHARS *salted = sw_printf("%s %s", salt, json_object_get_string(value));
    SW_AUTO_CHARS *text = sw_printf("<%d bytes redacted, %.8s>", len,
                                    sw_sha256_hex(salted, strlen(salted), hex));
    return json_object_new_string(text);
}

/* Every string below. */
static void blank(struct json_object *at, const char *salt)
{
    if (json_object_is_type(at, json_type_object)) {
        json_object_object_foreach(at, key, value)
        {
            if (json_object_is_type(value, json_type_string))
                json_object_object_add(at, key, mark(value, salt));
            else
                blank(value, salt);
        }
    }
    for (size_t i = 0; json_object_is_type(at, json_type_array) && i < sw_json_len(at); i++) {
        struct json_object *value = sw_json_at(at, i);
        if (json_object_is_type(value, json_type_string))
            (void)json_object_array_put_idx(at, i, mark(value, salt));
        else
            blank(value, salt);
    }
}

void sw_redact_urls(struct json_object *value)
{
    const char *text = json_object_get_string(value), *sign = strstr(text, "://");
    if (!sign)
        return;
    bool is_whole = !text[strcspn(text, " \t\r\n\"'")] && !memchr(text, '/', (size_t)(sign - text));
    SW_AUTO_CHARS *shown = is_whole ? sw_url_shown(text) : sw_strdup(text);
    if (!is_whole)
        sw_url_blank(shown);
    if (strcmp(shown, text) != 0)
        (void)json_object_set_string(value, shown);
}

static void walk(struct json_object *at, const char *salt)
{
    for (size_t i = 0; json_object_is_type(at, json_type_array) && i < sw_json_len(at); i++)
        if (json_object_is_type(sw_json_at(at, i), json_type_string))
            sw_redact_urls(sw_json_at(at, i));
        else
            walk(sw_json_at(at, i), salt);
    if (!json_object_is_type(at, json_type_object))
        return;
    /* {name: DB_PASSWORD, value: ...} */
    struct json_object *named = sw_json_get(at, "value");
    if (json_object_is_type(named, json_type_string) &&
        is_secret_name(sw_json_str(at, "", "name", NULL)))
        json_object_object_add(at, "value", mark(named, salt));
    json_object_object_foreach(at, key, value)
    {
        if (json_object_is_type(value, json_type_string) && is_secret_name(key))
            json_object_object_add(at, key, mark(value, salt));
        else if (json_object_is_type(value, json_type_string))
            sw_redact_urls(value);
        else
            walk(value, salt);
    }
}

void sw_redact_salted(struct json_object *object, const char *salt)
{
    struct json_object *items = sw_json_get(object, "items");
    for (size_t i = 0; i < sw_json_len(items); i++) /* of a List */
        if (*sw_obj_kind(sw_json_at(items, i)))
            sw_redact_salted(sw_json_at(items, i), salt);
    (void)sw_json_del(object, "metadata", "managedFields", NULL);
    (void)sw_json_del(object, "metadata", "annotations",
                      "kubectl.kubernetes.io/last-applied-configuration", NULL);
    if (sw_streq(sw_obj_kind(object), "Secret")) {
        blank(sw_json_get(object, "data"), salt);
        blank(sw_json_get(object, "stringData"), salt);
    }
    walk(object, salt);
}

void sw_redact_object(struct json_object *object)
{
    sw_redact_salted(object, NULL);
}

/* ---- text --------------------------------------------------------------------------------------
 */

/* Redact the value after a word: optional quotes, ':' or '=', and blanks precede it.
 * @return its end */
static char *blank_value(char *at, bool needs_sign)
{
    bool sign = false;
    for (; *at && strchr("\"'=: \t", *at); at++)
        sign |= *at == '=' || *at == ':';
    if (needs_sign && !sign)
        return at;
    for (; *at > ' ' && !strchr("\"',;)}]&", *at); at++)
        *at = '*';
    return at;
}

void sw_redact_text(char *text)
{
    sw_url_blank(text);
    for (char *at = text; *at;) {
        char *next = at + 1;
        if (strncasecmp(at, "bearer ", 7) == 0)
            next = blank_value(at + 7, false);
        else if (strncasecmp(at, "basic ", 6) == 0)
            next = blank_value(at + 6, false);
        for (size_t i = 0; i < SW_COUNT(secret_words); i++) {
            size_t n = strlen(secret_words[i]);
            if (strncasecmp(at, secret_words[i], n) == 0)
                next = blank_value(at + n, true);
        }
        at = next > at ? next : at + 1;
    }
}
