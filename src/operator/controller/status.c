/* The status of a resource on the server: written where it differs, packed, and written again where
 * others have removed it. */
#include "operator/controller/private.h"
#include "operator/inventory/inventory.h"

enum { RETRIES = 2 };

/* A copy of @doc in which each value that is no map differs from all that a status may have. */
static struct json_object *unknown_copy(struct json_object *doc)
{
    if (!json_object_is_type(doc, json_type_object))
        return json_object_new_string("\001");
    struct json_object *copy = json_object_new_object();
    json_object_object_foreach(doc, key, value)(void)
        json_object_object_add(copy, key, unknown_copy(value));
    return copy;
}

/* The write of @doc failed. It may have been done all the same, if only its answer was lost: the
 * next one sends every field, and removes those of @doc that are not in the status any more. */
static void doubt_status(struct resource *r, struct json_object *doc)
{
    struct json_object *before = SW_TAKE(r->own->doubtful_status);
    SW_AUTO_JSON *both = sw_merge_apply(before ? before : r->status, doc);
    r->own->doubtful_status = unknown_copy(both);
    json_object_put(before);
}

void status_doubt(struct resource *r)
{
    SW_AUTO_JSON *nothing = json_object_new_object();
    doubt_status(r, nothing);
}

/* An Event, too, where somebody has to change something. */
static void say_status_fault(struct resource *r, int code)
{
    const char *why = r->own->status_fault;
    sw_log(SW_LOG_WARN, "status not written", "resource", r->name, "why", why, NULL);
    if (code != SW_INVALID && code != SW_FORBIDDEN)
        return;
    SW_AUTO_CHARS *text = sw_printf("the status cannot be written: %s", why);
    event_record(
        r, &(struct sw_action){ .warning = true, .reason = "StatusNotWritten", .message = text });
}

static void on_status_written(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    struct resource *r = op->r;
    const char *message = a->code < 0 ? sw_err_text(a->err) : NULL;
    op->req = NULL;
    /* others have removed it since this was sent: the engine asks for all of it again */
    int code = a->code == 0 && r->own->status_is_lost ? SW_CONFLICT : a->code;
    if (code == 0) {
        json_object_put(r->status);
        r->status = json_object_get(op->doc);
        json_object_put(SW_TAKE(r->own->doubtful_status));
        r->own->inventory_is_plain = false;
    } else {
        doubt_status(r, op->doc);
    }
    if (fault_is_news(&r->own->status_fault, message))
        say_status_fault(r, a->code);
    op_answer(op, code, message, NULL, NULL);
}

/* The inventory and the details of states are packed together: one is not sent without the other.
 */
static void put_packed(struct resource *r, struct json_object *change, struct json_object *doc)
{
    static const char *const fields[] = { "inventory", "states" };
    bool any = r->own->inventory_is_plain;
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        any = any || sw_json_get(change, fields[i]);
    for (size_t i = 0; any && i < SW_COUNT(fields); i++)
        sw_json_set(change, sw_json_copy(sw_json_get(doc, fields[i])), fields[i], NULL);
}

/* Only what differs is sent: fields that others added to the status stay. */
static void begin_status(struct op *op, const struct sw_kind *kind)
{
    struct resource *r = op->r;
    SW_AUTO_JSON *body = json_object_new_object();
    SW_AUTO_JSON *empty = json_object_new_object();
    struct json_object *from = r->own->doubtful_status ? r->own->doubtful_status : r->status;
    struct json_object *change = sw_merge_create(from ? from : empty, op->doc);
    put_packed(r, change, op->doc);
    if (r->own->status_is_lost)
        records_put_known(r, change);
    r->own->status_is_lost = false;
    sw_inventory_pack(change);
    sw_json_set(body, change, "status", NULL);
    records_mark_new(r, sw_json_get(body, "status"));
    op->req = sw_kube_patch(r->c->kube, kind, NULL, r->name, SW_PATCH_MERGE, body,
                            REQUEST_OWN(KINDS, .subresource = "status", .retries = RETRIES),
                            on_status_written, op);
}

void request_status(struct resource *r, const struct sw_action *a)
{
    struct op *op = op_new_own(r, a->serial);
    op->answer = SW_EV_STATUS_WRITTEN;
    op->failed = op_failed;
    op->doc = json_object_get(a->doc);
    op->begin = begin_status;
    op_with_kind(op);
}

/* ---- read --------------------------------------------------------------------------------------
 */

void status_take_inventory(struct resource *r)
{
    SW_ERR(err);
    r->own->inventory_is_plain = sw_inventory_is_plain(r->status);
    if (sw_inventory_unpack(r->status, &err) < 0)
        sw_log(SW_LOG_WARN, "the inventory is made anew", "resource", r->name, "why",
               sw_err_text(&err), NULL);
}

bool status_is_removed(struct resource *r, struct json_object *doc)
{
    struct json_object *status = sw_json_get(doc, "status");
    bool is_whole = sw_json_get(status, "conditions") && sw_json_get(status, "states") &&
                    sw_json_get(status, "inventory");
    r->own->status_is_whole |= is_whole;
    return !is_whole && r->own->status_is_whole && r->started;
}

void status_write_again(struct resource *r)
{
    sw_log(SW_LOG_WARN, "somebody has removed the status: it is written again", "resource", r->name,
           NULL);
    r->own->status_is_lost = true;
    status_doubt(r);
    resource_step(r, &(struct sw_event){ .kind = SW_EV_STATUS_LOST });
}
