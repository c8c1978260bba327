/* A report: the page and what it shows as one file, which needs no server and asks none. */
#include "web/web.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/buffer.h"
#include "web/project.h"

static void put(struct sw_buffer *out, const char *text)
{
    sw_buffer_put(out, text, strlen(text));
}

static const struct sw_embedded *file_of(const char *name)
{
    const struct sw_embedded *file = sw_web_page;
    while (!sw_streq(file->name, name))
        file++;
    return file;
}

/* A module without its imports and exports: in one script all names are known. */
static void put_module(struct sw_buffer *out, const struct sw_embedded *file)
{
    static const char export[] = "export ";
    bool importing = false;
    for (const char *at = file->text; *at;) {
        size_t len = strcspn(at, "\n");
        len += at[len] == '\n';
        importing |= sw_starts_with(at, "import ");
        if (!importing) {
            size_t skip = sw_starts_with(at, export) ? strlen(export) : 0;
            sw_buffer_put(out, at + skip, len - skip);
        }
        if (importing && memmem(at, len, ";", 1))
            importing = false;
        at += len;
    }
}

/* All modules; the one that starts it all comes last. Heap. */
static char *script_of(size_t *len)
{
    struct sw_buffer out = { 0 };
    for (const struct sw_embedded *file = sw_web_page; file->name; file++)
        if (sw_ends_with(file->name, ".js") && !sw_streq(file->name, "app.js"))
            put_module(&out, file);
    put_module(&out, file_of("app.js"));
    return sw_buffer_take(&out, len);
}

/* The source of a policy that lets this text in and nothing else: 'sha256-...'. */
static void put_hash(struct sw_buffer *out, const char *text, size_t len)
{
    uint8_t digest[SW_SHA256_LEN];
    sw_sha256(text, len, digest);
    size_t hash_len;
    SW_AUTO_CHARS *hash = sw_base64_encode((const char *)digest, sizeof digest, &hash_len);
    put(out, "'sha256-");
    sw_buffer_put(out, hash, hash_len);
    put(out, "'");
}

char *sw_web_report(struct json_object *document, size_t *len_bytes)
{
    struct sw_buffer out = { 0 };
    size_t script_len;
    const struct sw_embedded *style = file_of("style.css"), *page = file_of("index.html");
    SW_AUTO_CHARS *script = script_of(&script_len);
    /* no '<' is left in it that could end the element */
    SW_AUTO_CHARS *data = sw_json_text(document, SW_JSON_HTML, NULL);
    const char *body = strstr(page->text, "<body>");
    const char *end = strstr(page->text, "</body>");
    put(&out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
    put_hash(&out, script, script_len);
    put(&out, "; style-src ");
    put_hash(&out, style->text, style->len_bytes);
    put(&out,
        "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>slipway</title>\n<style>");
    sw_buffer_put(&out, style->text, style->len_bytes);
    put(&out, "</style>\n</head>\n");
    sw_buffer_put(&out, body, (size_t)(end - body));
    put(&out, "<script type=\"application/json\" id=\"report\">");
    put(&out, data);
    put(&out, "</script>\n<script type=\"module\">");
    sw_buffer_put(&out, script, script_len);
    put(&out, "</script>\n</body>\n</html>\n");
    return sw_buffer_take(&out, len_bytes);
}

/* ---- documents ---------------------------------------------------------------------------------
 */

static void add(struct json_object *objects, const char *kind, struct json_object *object,
                web_project_fn *project)
{
    struct json_object *shown = project(object);
    if (!shown)
        return;
    SW_AUTO_CHARS *key = sw_printf("%s/%s", sw_obj_namespace(object), sw_obj_name(object));
    struct json_object *entry = json_object_new_array();
    (void)json_object_array_add(entry, json_object_new_string(kind));
    (void)json_object_array_add(entry, json_object_new_string(key));
    (void)json_object_array_add(entry, shown);
    (void)json_object_array_add(objects, entry);
}

struct json_object *sw_web_document(const char *source, int64_t now_ms,
                                    struct json_object *resources, struct json_object *events)
{
    struct json_object *document = json_object_new_object(), *objects = json_object_new_array();
    sw_json_set(document, json_object_new_int64(now_ms), "about", "now", NULL);
    sw_json_set_str(document, source, "about", "server", NULL);
    for (size_t i = 0; i < sw_json_len(resources); i++)
        add(objects, "resource", sw_json_at(resources, i), web_project_resource);
    for (size_t i = 0; i < sw_json_len(events); i++)
        add(objects, "event", sw_json_at(events, i), web_project_event);
    sw_json_set(document, objects, "objects", NULL);
    return document;
}
