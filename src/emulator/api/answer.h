#pragma once
/* answer: every answer of the API server, in the representation that was asked for. After any but
 * sw_rest_begin_stream() the request is gone. */
#include "emulator/api/request.h"

/** Call the hook for an answer that is given otherwise; @code 0: none is given. */
void sw_rest_note_answer(struct sw_req *req, int code);

/** @text of @len bytes, not taken. */
void sw_rest_send(struct sw_req *req, int code, const char *type, const char *text, size_t len);
/** A document, taken. */
void sw_rest_send_doc(struct sw_req *req, int code, json_object *doc);
/** Begin a streamed answer, status 200. */
void sw_rest_begin_stream(struct sw_req *req, const char *type);
/** A refusal. */
void sw_rest_send_status(struct sw_req *req, const struct sw_status *status);
/** A stored object in the representation that was asked for. @doc is borrowed. */
void sw_rest_send_object(struct sw_req *req, int code, json_object *doc);
