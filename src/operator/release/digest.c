/* Digests of what is kept in the cluster, and whether a record is the one that was written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <json-c/json.h>

#include "data/data.h"
#include "operator/release/record.h"

void sw_record_salt(char out[static SW_RECORD_SALT_HEX])
{
    unsigned char bytes[(SW_RECORD_SALT_HEX - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort(); /* getrandom() does not fail for 16 bytes */
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* @hex: of the content, and then of the salt, too. */
static void add_salt(struct json_object *record, char hex[static SW_SHA256_HEX])
{
    const char *salt = sw_obj_annotation(record, SW_RECORD_SALT);
    if (!salt)
        return;
    SW_AUTO_CHARS *both = sw_printf("%s:%s", salt, hex);
    (void)sw_sha256_hex(both, strlen(both), hex);
}

void sw_record_digest(struct json_object *record, const char *text, char out[static SW_SHA256_HEX])
{
    (void)sw_sha256_hex(text, strlen(text), out);
    add_salt(record, out);
}

/* A map with the members of @from, borrowed by reference, but @without. */
static struct json_object *copy_without(struct json_object *from, const char *without)
{
    struct json_object *copy = json_object_new_object();
    if (json_object_is_type(from, json_type_object)) {
        json_object_object_foreach(from, key, value)
        {
            if (!sw_streq(key, without))
                (void)json_object_object_add(copy, key, json_object_get(value));
        }
    }
    return copy;
}

void sw_release_content(struct json_object *release, char out[static SW_SHA256_HEX])
{
    SW_AUTO_JSON *copy = copy_without(release, "info");
    struct json_object *hooks = sw_json_get(release, "hooks"), *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(hooks); i++)
        (void)json_object_array_add(list, copy_without(sw_json_at(hooks, i), "last_run"));
    sw_json_set(copy, list, "hooks", NULL);
    (void)sw_json_sha256(copy, out);
}

void sw_release_seal(struct json_object *record, char digest[static SW_SHA256_HEX])
{
    add_salt(record, digest);
}

void sw_release_digest(struct json_object *record, struct json_object *release,
                       char out[static SW_SHA256_HEX])
{
    sw_release_content(release, out);
    sw_release_seal(record, out);
}

/* ---- what the status says ----------------------------------------------------------------------
 */

/* "NAME@DIGEST": the digest; NULL: another name is accepted, or none. */
static const char *accepted(struct json_object *resource, const char *name)
{
    const char *text = sw_obj_annotation(resource, SW_RECORD_ACCEPTED);
    size_t len = strlen(name);
    return text && strncmp(text, name, len) == 0 && text[len] == '@' ? text + len + 1 : NULL;
}

bool sw_record_is_known(struct json_object *resource, struct json_object *digests, const char *name)
{
    return accepted(resource, name) || *sw_json_str(digests, "", name, NULL);
}

/* Is @digest one of the words of @all? */
static bool has_word(const char *all, const char *digest)
{
    size_t len = strlen(digest);
    for (const char *at = all; len && (at = strstr(at, digest)); at += len)
        if ((at == all || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

enum sw_record_trust sw_record_check(struct json_object *resource, struct json_object *digests,
                                     const char *name, const char *digest)
{
    if (sw_streq(accepted(resource, name), digest) ||
        has_word(sw_json_str(digests, "", name, NULL), digest))
        return SW_RECORD_TRUSTED;
    return sw_record_is_known(resource, digests, name) ? SW_RECORD_CHANGED : SW_RECORD_UNKNOWN;
}

char *sw_record_why_not(enum sw_record_trust trust, const char *resource, const char *kind,
                        const char *ns, const char *name, const char *digest)
{
    SW_AUTO_CHARS *accept = digest ? sw_printf(", or, if its content is right, kubectl annotate "
                                               "specialresource %s " SW_RECORD_ACCEPTED "=%s@%s",
                                               resource, name, digest)
                                   : sw_strdup("");
    return sw_printf(
        "%s %s/%s is not used: %s [see who may write there, and delete it%s]", kind, ns, name,
        trust == SW_RECORD_CHANGED ? "it is not what slipway wrote" : "slipway did not write it",
        accept);
}
