#pragma once
/* redact: removes secrets from objects and logs before they leave the cluster (support bundles,
 * debug output). */
struct json_object;

/** Redact @object in place: the data of Secrets; values whose key is named like a secret (password,
 * token, ...), including environment variables with such names; and what kubectl and the API server
 * store in metadata (last-applied-configuration, managedFields). The replacement states the length
 * of the value: "<12 bytes redacted>".
 * Pinned by test/emulator/deploy/support_test.sh. */
void sw_redact_object(struct json_object *object);
/** As sw_redact_object(), but the replacement contains a hash of the value and @salt, so that
 * different values can be distinguished: "<12 bytes redacted, 1f0c22aa>". Keep @salt secret:
 * without it the value cannot be guessed from the hash. */
void sw_redact_salted(struct json_object *object, const char *salt);
/** Hide passwords of URLs in a string, of a URL alone its query, too. */
void sw_redact_urls(struct json_object *string);
/** Redact the text of a log in place: passwords in URLs, the values that follow "Bearer ", "Basic "
 * or a name such as password= or "token":. The length of the text does not change. */
void sw_redact_text(char *text);
