#pragma once
/* redact: take out of what is handed on what nobody else should read. */
struct json_object;

/** In place: data of Secrets; values under keys that are named like a secret (password, token,
 * ...), environment variables of such names included; what kubectl and the server keep beside an
 * object (last-applied-configuration, managedFields). Lengths are kept: "<12 bytes redacted>".
 * Pinned by test/emulator/deploy/support_test.sh. */
void sw_redact_object(struct json_object *object);
/** The same with marks that tell values apart: "<12 bytes redacted, 1f0c22aa>", of a hash with
 * @salt, which nobody else knows. */
void sw_redact_salted(struct json_object *object, const char *salt);
/** In a log's text: what follows "Bearer ", "Basic " or a name like password= or "token":. The
 * text's length stays. */
void sw_redact_text(char *text);
