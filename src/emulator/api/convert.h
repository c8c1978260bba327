#pragma once
/* convert: stored objects in the version and representation of a request. The text of an object is
 * written once; only its beginning differs between versions, and between a list and a watch. */
#include <json-c/printbuf.h>
#include <stdbool.h>

#include "emulator/api/request.h"

/** Append the object's JSON. @typed: with apiVersion and kind (the built-in kinds' lists leave them
 * out). */
void sw_render(struct sw_req *req, struct sw_version *v, bool typed, struct printbuf *out);
/** Whether fields differ between the version and the stored one, not apiVersion alone. */
bool sw_rest_is_converted(const struct sw_emu_kind *kind, const char *version);
/** The path in stored documents of a field of the request's version, dotted; heap. */
char *sw_rest_stored_field(const struct sw_emu_kind *kind, const char *field);
/** A stored document (taken) in @version; the caller's. */
json_object *sw_rest_to_version(const struct sw_emu_kind *kind, const char *version,
                                json_object *doc);
/** A client's document (taken) in the stored version; the caller's. */
json_object *sw_rest_from_version(const struct sw_emu_kind *kind, const char *version,
                                  json_object *doc);
