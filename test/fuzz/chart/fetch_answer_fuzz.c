/* What a fetch helper, which has read what strangers sent, writes to its pipe. */
#include <assert.h>

#include "base/base.h"
#include "chart/fetch/helper.h"
#include "data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_AUTO_JSON *answer = NULL;
    const char *text = (const char *)data, *bundle = NULL;
    size_t n_bundle = 0;
    SW_ERR(err);
    if (sw_fetch_read_answer(text, size, &answer, &bundle, &n_bundle, &err) == 0)
        assert(answer && bundle >= text && bundle + n_bundle == text + size);
    return 0;
}
