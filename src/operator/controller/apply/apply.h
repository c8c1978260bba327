#pragma once
/* apply: what stands between an object and server-side apply: fields that SRO owns, and what older
 * API servers refuse. */
#include <stddef.h>

struct json_object;
struct op;
struct sw_kind;

/** The JSON patch that hands the fields of @live which SRO or DAS wrote over to slipway's field
 * manager, the caller's; NULL: they wrote none. */
struct json_object *inherit_patch(struct json_object *live);
/** Take over the fields of op->key that SRO wrote, then call op->apply. */
void inherit_begin(struct op *op, const struct sw_kind *kind);
/** Remove the fields from @doc that @message says the server does not declare; their names are
 * added to @names (heap). @return how many places were changed; 0: it says no such thing */
size_t unknown_fields_drop(struct json_object *doc, const char *message, char **names);
/** Where @message says that the server takes texts only, write quantities in @doc that are numbers
 * as texts. @return how many there were */
size_t quantity_write_out(struct json_object *doc, const char *message);
