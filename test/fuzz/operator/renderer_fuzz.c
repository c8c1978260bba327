/* What a child says to the controller: a head, then its text as each of the messages. */
#include "operator/renderer/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char plan_text[] = "{\"states\":[{\"name\":\"0000\",\"chart\":\"a\"}]}";
    SW_AUTO_JSON *doc = NULL, *known = NULL;
    struct sw_recipe_view recipe;
    struct sw_plan_view *plan = NULL;
    char head[FRAME_HEAD] = { 0 }, type;
    size_t n;
    SW_ERR(err);
    memcpy(head, data, len < sizeof head ? len : sizeof head);
    if (frame_read_head(head, &type, &n, &err) == 0 && n > FRAME_ANSWER_MAX)
        abort();
    if (len < FRAME_HEAD ||
        frame_parse((const char *)data + FRAME_HEAD, len - FRAME_HEAD, 1 << 20, &doc, &err) < 0)
        return 0;
    if (answer_code(doc, &err) > 0)
        abort();
    if (recipe_view_read(doc, &recipe, &err) == 0 && sw_recipe_view_mentions(&recipe, "no/v1"))
        (void)strlen(recipe.name);
    recipe_view_done(&recipe);
    if (plan_view_read(doc, &plan, &err) == 0) {
        for (size_t i = 0; i < plan->n_states; i++) {
            (void)sw_plan_view_mentions(plan, i, "word");
            for (size_t k = 0; k < plan->states[i].n_needs; k++)
                if (plan->states[i].needs[k] >= i)
                    abort();
        }
        plan_view_free(plan);
    }
    if (frame_parse(plan_text, sizeof plan_text - 1, 1 << 20, &known, &err) < 0 ||
        plan_view_read(known, &plan, &err) < 0)
        abort();
    SW_AUTO(sw_rendered) *rendered = sw_rendered_new();
    if (manifest_take(doc, plan, rendered, &err) == 0 &&
        sw_rendered_manifest(rendered, 0)->state >= plan->n_states)
        abort();
    plan_view_free(plan);
    return 0;
}
