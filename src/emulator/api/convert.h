#pragma once
/* render: the text of stored objects in the version and representation that was asked for. The text
 * of an object is written once; only its beginning differs between versions and between a list and
 * a watch. */
#include <json-c/printbuf.h>

#include "emulator/api/rest.h"

/** Append the object's JSON. @typed: with apiVersion and kind (the built-in kinds' lists leave them
 * out). */
void sw_render(struct sw_req *req, struct sw_version *v, bool typed, struct printbuf *out);
/** What a field of the request's version is called in what is stored, dotted; heap. */
char *sw_rest_stored_field(const struct sw_emu_kind *kind, const char *field);
