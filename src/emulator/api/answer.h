#pragma once
/* answer: every answer of the API server, in the representation that the client accepts. After any
 * answer but sw_rest_begin_stream() the request may be freed. */
#include "emulator/api/request.h"

/** Call the hook of the answers for one that is not sent here; @code 0: there is no answer. */
void sw_rest_note_answer(struct sw_req *req, int code);

/** Warnings to send with the answer, one a line; taken, NULL is accepted. */
void sw_rest_add_warnings(struct sw_req *req, char *warnings);
/** Send @len bytes of @text, which is borrowed. */
void sw_rest_send(struct sw_req *req, int code, const char *type, const char *text, size_t len);
/** Send a document, which is taken. */
void sw_rest_send_doc(struct sw_req *req, int code, json_object *doc);
/** Begin a streamed answer, status 200. */
void sw_rest_begin_stream(struct sw_req *req, const char *type);
/** Send a Status. */
void sw_rest_send_status(struct sw_req *req, const struct sw_status *status);
/** Send the Status of an error: @reason is static, @fmt is that of the message. */
void sw_rest_send_error(struct sw_req *req, int code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** Send a stored object. @doc is borrowed. */
void sw_rest_send_object(struct sw_req *req, int code, json_object *doc);
/** The object @name of the request's kind and namespace, borrowed. @return NULL: there is none, and
 * 404 was sent */
struct sw_object *sw_rest_find(struct sw_req *req, const char *name);
