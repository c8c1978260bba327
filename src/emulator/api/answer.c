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

/* Warning: 299 - "text", as RFC 7234 has them; quotes and backslashes escaped. */
static char *warning_headers(const char *warnings)
{
    char *all = sw_strdup("");
    while (warnings && *warnings) {
        size_t len = strcspn(warnings, "\n");
        SW_AUTO_CHARS *line = sw_strndup(warnings, len), *quoted = sw_status_quote(line);
        SW_AUTO_CHARS *before = all;
        all = sw_printf("%sWarning: 299 - %s\r\n", before, quoted);
        warnings += len + (warnings[len] == '\n');
    }
    return all;
}

static void send_with(struct sw_req *req, int code, const char *type, const char *extra,
                      const char *text, size_t len)
{
    SW_AUTO_CHARS *warnings = warning_headers(req->warnings);
    SW_AUTO_CHARS *headers = sw_printf("%s%s%s", NO_CACHE, warnings, extra ? extra : "");
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
