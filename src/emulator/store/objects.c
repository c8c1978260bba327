#include "emulator/store/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/store_internal.h"

/* ---- versions -----------------------------------------------------------------------------------
 */

struct sw_version *sw_version_ref(struct sw_version *v)
{
    v->refs++;
    return v;
}

void sw_version_unref(struct sw_version *v)
{
    if (!v || --v->refs > 0)
        return;
    json_object_put(v->doc);
    free(v);
}

const char *sw_version_text(struct sw_store *store, const struct sw_version *v, size_t *len)
{
    if (store->text.rv != v->rv) {
        free(store->text.bytes);
        store->text.bytes = sw_json_text(v->doc, SW_JSON_PLAIN, &store->text.len);
        store->text.rv = v->rv;
    }
    *len = store->text.len;
    return store->text.bytes;
}

/* ---- shelves ------------------------------------------------------------------------------------
 */

static int compare(const struct sw_object *object, const char *ns, const char *name)
{
    int order = strcmp(object->ns, ns);
    return order ? order : strcmp(object->name, name);
}

size_t sw_shelf_seek(const struct sw_shelf *shelf, const char *ns, const char *name)
{
    size_t low = 0, high = shelf->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare(shelf->objects[mid], ns, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct sw_shelf *sw_store_shelf(const struct sw_emu_kind *kind)
{
    return kind->stored_as ? kind->stored_as->shelf : kind->shelf;
}

struct sw_shelf *sw_store_need_shelf(const struct sw_emu_kind *kind)
{
    struct sw_emu_kind *own = (struct sw_emu_kind *)(kind->stored_as ? kind->stored_as : kind);
    if (!own->shelf)
        own->shelf = sw_zalloc(1, sizeof *own->shelf);
    return own->shelf;
}

struct sw_object *sw_store_object(struct sw_store *store SW_UNUSED, const struct sw_emu_kind *kind,
                                  const char *ns, const char *name)
{
    const struct sw_shelf *shelf = kind ? sw_store_shelf(kind) : NULL;
    if (!shelf)
        return NULL;
    size_t i = sw_shelf_seek(shelf, ns ? ns : "", name);
    return i < shelf->n && compare(shelf->objects[i], ns ? ns : "", name) == 0 ? shelf->objects[i]
                                                                               : NULL;
}
