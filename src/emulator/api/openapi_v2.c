/* The API's description in its second version, as old clients read it: protobuf only, in gnostic's
 * form (github.com/googleapis/gnostic, openapiv2/OpenAPIv2.proto). They look in it whether the
 * PATCH of a kind takes "dryRun" before they send any; there are no definitions, so they validate
 * nothing themselves. */
#include <json-c/printbuf.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/openapi.h"

/* Numbers of the fields that are used. */
enum {
    DOCUMENT_SWAGGER = 1,
    DOCUMENT_INFO = 2,
    DOCUMENT_PATHS = 8,
    INFO_TITLE = 1,
    INFO_VERSION = 2,
    PATHS_PATH = 2,
    NAMED_NAME = 1,
    NAMED_VALUE = 2,
    PATH_ITEM_PATCH = 8,
    OPERATION_PARAMETERS = 8,
    OPERATION_EXTENSION = 13,
    PARAMETERS_ITEM_PARAMETER = 1,
    PARAMETER_NON_BODY = 2,
    NON_BODY_QUERY = 3,
    QUERY_IN = 2,
    QUERY_NAME = 4,
    ANY_YAML = 2,
};

static void put_varint(struct printbuf *out, size_t n)
{
    char bytes[10];
    int len = 0;
    for (; n >= 0x80; n >>= 7)
        bytes[len++] = (char)(n | 0x80);
    bytes[len++] = (char)n;
    (void)printbuf_memappend(out, bytes, len);
}

static void put_bytes(struct printbuf *out, unsigned field, const char *bytes, size_t len)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, len);
    (void)printbuf_memappend(out, bytes, (int)len);
}

static void put_text(struct printbuf *out, unsigned field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* @message goes into @out as a field, and is empty again. */
static void put_message(struct printbuf *out, unsigned field, struct printbuf *message)
{
    put_bytes(out, field, message->buf, (size_t)message->bpos);
    printbuf_reset(message);
}

/* A message inside messages, each of which has nothing else: @fields from the inside. */
static void wrap(struct printbuf *message, const unsigned *fields, size_t n)
{
    struct printbuf *outer = printbuf_new();
    for (size_t i = 0; i < n; i++) {
        put_message(outer, fields[i], message);
        (void)printbuf_memappend(message, outer->buf, outer->bpos);
        printbuf_reset(outer);
    }
    printbuf_free(outer);
}

static void put_dry_run(struct printbuf *operation)
{
    static const unsigned around[] = { NON_BODY_QUERY, PARAMETER_NON_BODY,
                                       PARAMETERS_ITEM_PARAMETER };
    struct printbuf *query = printbuf_new();
    put_text(query, QUERY_IN, "query");
    put_text(query, QUERY_NAME, "dryRun");
    wrap(query, around, SW_COUNT(around));
    put_message(operation, OPERATION_PARAMETERS, query);
    printbuf_free(query);
}

static void put_gvk(struct printbuf *operation, const struct sw_emu_kind *kind, const char *version)
{
    struct printbuf *any = printbuf_new(), *named = printbuf_new();
    SW_AUTO_CHARS *yaml = sw_printf("group: \"%s\"\nkind: %s\nversion: %s\n", kind->group,
                                    kind->kind, version);
    put_text(any, ANY_YAML, yaml);
    put_text(named, NAMED_NAME, "x-kubernetes-group-version-kind");
    put_message(named, NAMED_VALUE, any);
    put_message(operation, OPERATION_EXTENSION, named);
    printbuf_free(any);
    printbuf_free(named);
}

static void put_kind(struct printbuf *paths, const struct sw_emu_kind *kind, const char *version)
{
    struct printbuf *operation = printbuf_new(), *item = printbuf_new(), *named = printbuf_new();
    SW_AUTO_CHARS *path = sw_openapi_path(kind, version);
    put_dry_run(operation);
    put_gvk(operation, kind, version);
    put_message(item, PATH_ITEM_PATCH, operation);
    put_text(named, NAMED_NAME, path);
    put_message(named, NAMED_VALUE, item);
    put_message(paths, PATHS_PATH, named);
    printbuf_free(operation);
    printbuf_free(item);
    printbuf_free(named);
}

static void send_protobuf(struct sw_req *req)
{
    struct printbuf *document = printbuf_new(), *part = printbuf_new();
    const struct sw_emu_kind *kind;
    put_text(document, DOCUMENT_SWAGGER, "2.0");
    put_text(part, INFO_TITLE, "Kubernetes");
    put_text(part, INFO_VERSION, req->kube_version);
    put_message(document, DOCUMENT_INFO, part);
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++)
        for (size_t v = 0; kind->served && kind->versions[v]; v++)
            put_kind(part, kind, kind->versions[v]);
    put_message(document, DOCUMENT_PATHS, part);
    sw_rest_send(req, 200, "application/octet-stream", document->buf, (size_t)document->bpos);
    printbuf_free(document);
    printbuf_free(part);
}

void sw_openapi_v2(struct sw_req *req)
{
    const char *accept = req->accept;
    if (accept && strstr(accept, "proto-openapi")) { /* octet-stream: as old servers call it */
        send_protobuf(req);
        return;
    }
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "2.0", "swagger", NULL);
    sw_json_set_str(doc, "Kubernetes", "info", "title", NULL);
    sw_json_set_str(doc, req->kube_version, "info", "version", NULL);
    sw_json_set(doc, json_object_new_object(), "paths", NULL);
    sw_rest_send_doc(req, 200, doc);
}
