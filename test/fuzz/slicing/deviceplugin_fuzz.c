/* Any bytes as what the device plugin reads: a record, a CDI file, kubelet's messages, a claim.
 * Refused, or read and written back to the same. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/journal.h"
#include "slicing/deviceplugin/dra_messages.h"
#include "slicing/deviceplugin/messages.h"
#include "slicing/deviceplugin/mps/mps.h"
#include "slicing/dra/dra.h"

static void read_json(const uint8_t *data, size_t size)
{
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *device = NULL;
    SW_ERR(err);
    struct dp_grant *g = NULL;
    if (sw_json_parse((const char *)data, size, &(struct sw_json_opts){ .max_depth = 32 }, &doc,
                      &err) < 0)
        return;
    (void)!dp_cdi_read(doc, &device, &err);
    if (dp_cdi_inherit("c1g.5gb_8c1f.cdi.json", doc, "boot", &g, &err) == 0) {
        SW_AUTO_JSON *record = dp_record_make(g);
        struct dp_grant *same = NULL;
        if (dp_record_read(record, &same, &err) < 0)
            abort();
        dp_grant_free(same);
        dp_grant_free(SW_TAKE(g));
    }
    struct sw_dra_result *results = NULL;
    size_t n = 0;
    if (sw_dra_results_read(doc, sw_obj_uid(doc), "slipway/node", &results, &n, &err) == 0)
        sw_dra_results_free(results, n);
    if (dp_record_read(doc, &g, &err) < 0)
        return;
    SW_AUTO_JSON *again = dp_record_make(g), *cdi = dp_cdi_make(g, NULL), *third = NULL;
    SW_AUTO_JSON *daemon = NULL;
    if (dp_mps_config(g, &daemon, &err) == 0) /* each command is one line */
        for (size_t i = 0; i < sw_json_len(sw_json_get(daemon, "commands")); i++)
            if (strchr(json_object_get_string(sw_json_at(sw_json_get(daemon, "commands"), i)),
                       '\n'))
                abort();
    struct dp_grant *same = NULL;
    if (dp_record_read(again, &same, &err) < 0)
        abort();
    third = dp_record_make(same);
    if (!sw_json_equal(again, third))
        abort();
    dp_grant_free(same);
    dp_grant_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    struct dp_id_list *lists = NULL, start = { 0 };
    struct dp_held *held = NULL;
    struct dp_bytes out;
    size_t n = 0;
    read_json(data, size);
    if (dp_message_read_ids(data, size, &lists, &n, &err) == 0)
        dp_id_lists_free(lists, n);
    if (dp_message_read_start(data, size, &start, &err) == 0) {
        for (size_t i = 0; i < start.n; i++)
            free(start.ids[i]);
        free(start.ids);
    }
    if (dp_message_prefer(data, size, &out, &err) == 0)
        free(out.bytes);
    if (dp_message_read_held(data, size, &held, &n, &err) == 0)
        dp_held_free(held, n);
    struct dp_ref *refs = NULL;
    char *trouble = NULL;
    if (dp_dra_read_claims(data, size, &refs, &n, &err) == 0)
        dp_refs_free(refs, n);
    if (dp_dra_read_status(data, size, &trouble, &err) == 0)
        free(trouble);
    return 0;
}
