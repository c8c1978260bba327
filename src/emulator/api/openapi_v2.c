/* OpenAPI v2 for old clients, which read it as protobuf in gnostic's form
 * (github.com/googleapis/gnostic, openapiv2/OpenAPIv2.proto). Before a dry run they check that the
 * PATCH of the kind has the parameter "dryRun". There are no definitions, so they validate nothing
 * themselves. */
#include <json-c/printbuf.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/api/answer.h"
#include "emulator/api/openapi.h"
#include "emulator/store/document.h"

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

/* Append @message to @out as a field, and empty it. */
static void put_message(struct printbuf *out, unsigned field, struct printbuf *message)
{
    put_bytes(out, field, message->buf, (size_t)message->bpos);
    printbuf_reset(message);
}

/* The parameter "dryRun": a message in three messages that contain nothing else. */
static void put_dry_run(struct printbuf *operation)
{
    struct printbuf *a = printbuf_new(), *b = printbuf_new();
    put_text(a, QUERY_IN, "query");
    put_text(a, QUERY_NAME, "dryRun");
    put_message(b, NON_BODY_QUERY, a);
    put_message(a, PARAMETER_NON_BODY, b);
    put_message(b, PARAMETERS_ITEM_PARAMETER, a);
    put_message(operation, OPERATION_PARAMETERS, b);
    printbuf_free(a);
    printbuf_free(b);
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
    struct printbuf *document = printbuf_new(), *message = printbuf_new();
    const struct sw_emu_kind *kind;
    put_text(document, DOCUMENT_SWAGGER, "2.0");
    SW_AUTO_JSON *info = sw_openapi_info(req);
    put_text(message, INFO_TITLE, sw_json_str(info, "", "title", NULL));
    put_text(message, INFO_VERSION, sw_json_str(info, "", "version", NULL));
    put_message(document, DOCUMENT_INFO, message);
    for (size_t i = 0; (kind = sw_kinds_nth(sw_store_kinds(req->store), i)); i++)
        for (size_t v = 0; kind->served && kind->versions[v]; v++)
            put_kind(message, kind, kind->versions[v]);
    put_message(document, DOCUMENT_PATHS, message);
    sw_rest_send(req, 200, "application/octet-stream", document->buf, (size_t)document->bpos);
    printbuf_free(document);
    printbuf_free(message);
}

void sw_openapi_v2(struct sw_req *req)
{
    const char *accept = req->accept;
    if (accept &&
        strstr(accept, "proto-openapi")) { /* answered as octet-stream, as old servers do */
        send_protobuf(req);
        return;
    }
    sw_rest_send_doc(req, 200,
                     sw_doc_new("swagger", sw_str("2.0"), "info", sw_openapi_info(req), "paths",
                                json_object_new_object(), NULL));
}
