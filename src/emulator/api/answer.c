#include "emulator/api/answer.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/convert.h"
#include "emulator/api/table.h"
#include "emulator/store/status.h"

#define NO_CACHE "Cache-Control: no-cache, private\r\n"

void sw_rest_note_answer(struct sw_req *req, int code)
{
    if (req->on_answer)
        req->on_answer(&req->info, code, req->on_answer_arg);
}

void sw_rest_begin_stream(struct sw_req *req, const char *type)
{
    sw_rest_note_answer(req, 200);
    sw_serve_begin(req->reply, 200, type, NO_CACHE);
}

void sw_rest_add_warnings(struct sw_req *req, char *warnings)
{
    SW_AUTO_CHARS *before = req->warnings, *more = warnings;
    req->warnings = NULL;
    if (before && more)
        req->warnings = sw_printf("%s\n%s", before, more);
    else
        req->warnings = before ? SW_TAKE(before) : SW_TAKE(more);
}

static void send_with(struct sw_req *req, int code, const char *type, const char *extra,
                      const char *text, size_t len)
{
    SW_AUTO_CHARS *headers = sw_printf("%s%s", NO_CACHE, extra ? extra : "");
    for (const char *warning = req->warnings; warning && *warning;) {
        size_t n = strcspn(warning, "\n");
        SW_AUTO_CHARS *line = sw_strndup(warning, n), *quoted = sw_status_quote(line);
        sw_append(&headers, "Warning: 299 - %s\r\n", quoted); /* RFC 7234 */
        warning += n + (warning[n] == '\n');
    }
    sw_rest_note_answer(req, code);
    if (req->fault.type == SW_FAULT_LOST)
        sw_serve_abort(req->reply, false);
    else
        sw_serve_answer_with(req->reply, code, type, headers, text, len);
}

void sw_rest_send(struct sw_req *req, int code, const char *type, const char *text, size_t len)
{
    send_with(req, code, type, NULL, text, len);
}

void sw_rest_send_doc(struct sw_req *req, int code, json_object *doc)
{
    size_t len;
    bool yaml = req->form == SW_FORM_YAML;
    SW_AUTO_CHARS *text = yaml ? sw_yaml_text(doc, &len) : sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    sw_rest_send(req, code, yaml ? "application/yaml" : "application/json", text, len);
}

void sw_rest_send_status(struct sw_req *req, const struct sw_status *status)
{
    json_object *doc = sw_status_doc(status);
    int64_t retry_s = sw_json_int(doc, 0, "details", "retryAfterSeconds", NULL);
    SW_AUTO_CHARS *extra = retry_s ? sw_printf("Retry-After: %lld\r\n", (long long)retry_s) : NULL;
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    json_object_put(doc);
    send_with(req, status->code, "application/json", extra, text, len);
}

void sw_rest_send_error(struct sw_req *req, int code, const char *reason, const char *fmt, ...)
{
    SW_STATUS(status);
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *message = sw_vprintf(fmt, ap);
    va_end(ap);
    (void)sw_status_set(&status, code, reason, "%s", message);
    sw_rest_send_status(req, &status);
}

struct sw_object *sw_rest_find(struct sw_req *req, const char *name)
{
    struct sw_object *object = sw_store_object(req->store, req->kind, req->ns, name);
    if (!object) {
        SW_STATUS(status);
        (void)sw_status_not_found(&status, req->kind, name);
        sw_rest_send_status(req, &status);
    }
    return object;
}

void sw_rest_send_object(struct sw_req *req, int code, json_object *doc)
{
    if (req->form == SW_FORM_TABLE) {
        sw_rest_send_doc(req, code, sw_table_of_one(req, doc));
        return;
    }
    json_object *out = sw_rest_to_version(req->kind, req->version, json_object_get(doc));
    if (req->form == SW_FORM_PARTIAL) {
        json_object *partial = sw_table_partial(out);
        json_object_put(out);
        out = partial;
    }
    sw_rest_send_doc(req, code, out);
}
