/* The GPUs that can be cut, as tables. Source: NVIDIA Multi-Instance GPU User Guide, "Supported
 * MIG profiles" (names, number of instances) and "Getting started" (ids and placements as
 * `nvidia-smi mig -lgip` and `-lgipp` print them); the numbers of GPU instance profiles are those
 * of nvml.h (NVML_GPU_INSTANCE_PROFILE_*). test/unit/slicing/mig_geometry_test.c checks that as
 * many of each fit as the guide says. */
#include <ctype.h>
#include <string.h>

#include "slicing/mig/mig.h"
#include "slicing/mig/models.h"

/* nvml.h */
enum {
    GI_1 = 0,
    GI_2 = 1,
    GI_3 = 2,
    GI_4 = 3,
    GI_7 = 4,
    GI_1_REV1 = 7,
    GI_2_REV1 = 8,
    GI_1_REV2 = 9,
    GI_1_GFX = 10,
    GI_2_GFX = 11,
    GI_4_GFX = 12,
    GI_1_NO_ME = 13,
    GI_2_NO_ME = 14,
    GI_1_ALL_ME = 15,
    GI_2_ALL_ME = 16,
    CI_1 = 0,
    CI_2 = 1,
    CI_3 = 2,
    CI_4 = 3,
    CI_7 = 4,
};

#define AT(i) (1u << (i))
#define EACH_OF_7 0x7f

/* A100, H100, H200, B200, GB200: 7 compute slices, 8 memory slices.
 *   Profile ID 19, 20: {0,1,2,3,4,5,6}:1    15: {0,2,4,6}:2    14: {0,2,4}:2
 *   9: {0,4}:4    5: {0}:4    0: {0}:8 */
static const struct sw_mig_layout_row seven_rows[] = {
    { 19, GI_1, CI_1, 1, EACH_OF_7 },
    { 20, GI_1_REV1, CI_1, 1, EACH_OF_7 },
    { 15, GI_1_REV2, CI_1, 2, AT(0) | AT(2) | AT(4) | AT(6) },
    { 14, GI_2, CI_2, 2, AT(0) | AT(2) | AT(4) },
    { 9, GI_3, CI_3, 4, AT(0) | AT(4) },
    { 5, GI_4, CI_4, 4, AT(0) },
    { 0, GI_7, CI_7, 8, AT(0) },
};
static const struct sw_mig_layout seven = { seven_rows, SW_COUNT(seven_rows) };

/* A30: 4 and 4.   14, 21: {0,1,2,3}:1    5, 6: {0,2}:2    0: {0}:4 */
static const struct sw_mig_layout_row four_rows[] = {
    { 14, GI_1, CI_1, 1, 0xf },          { 21, GI_1_REV1, CI_1, 1, 0xf },
    { 5, GI_2, CI_2, 2, AT(0) | AT(2) }, { 6, GI_2_REV1, CI_2, 2, AT(0) | AT(2) },
    { 0, GI_4, CI_4, 4, AT(0) },
};
static const struct sw_mig_layout four = { four_rows, SW_COUNT(four_rows) };

/* RTX PRO 6000 Blackwell: 4 and 12.   14, 21, 47, 65, 67: {0,3,6,9}:3    5, 35, 64, 66: {0,6}:6
 *   0, 32: {0}:12 */
static const struct sw_mig_layout_row rtx_rows[] = {
    { 14, GI_1, CI_1, 3, AT(0) | AT(3) | AT(6) | AT(9) },
    { 21, GI_1_REV1, CI_1, 3, AT(0) | AT(3) | AT(6) | AT(9) },
    { 47, GI_1_GFX, CI_1, 3, AT(0) | AT(3) | AT(6) | AT(9) },
    { 65, GI_1_ALL_ME, CI_1, 3, AT(0) | AT(3) | AT(6) | AT(9) },
    { 67, GI_1_NO_ME, CI_1, 3, AT(0) | AT(3) | AT(6) | AT(9) },
    { 5, GI_2, CI_2, 6, AT(0) | AT(6) },
    { 35, GI_2_GFX, CI_2, 6, AT(0) | AT(6) },
    { 64, GI_2_ALL_ME, CI_2, 6, AT(0) | AT(6) },
    { 66, GI_2_NO_ME, CI_2, 6, AT(0) | AT(6) },
    { 0, GI_4, CI_4, 12, AT(0) },
    { 32, GI_4_GFX, CI_4, 12, AT(0) },
};
static const struct sw_mig_layout rtx = { rtx_rows, SW_COUNT(rtx_rows) };

#define NAMES(...) ((const char *const[]){ __VA_ARGS__ })

static const struct sw_mig_model models[] = {
    { "A30-24GB", "NVIDIA A30", 24576, &four,
      NAMES("1g.6gb", "1g.6gb+me", "2g.12gb", "2g.12gb+me", "4g.24gb") },
    { "A100-40GB", "NVIDIA A100-SXM4-40GB", 40960, &seven,
      NAMES("1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb") },
    { "A100-80GB", "NVIDIA A100-SXM4-80GB", 81920, &seven,
      NAMES("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb") },
    { "H100-80GB", "NVIDIA H100 80GB HBM3", 81559, &seven,
      NAMES("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb") },
    { "H100-94GB", "NVIDIA H100 NVL", 95830, &seven,
      NAMES("1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb") },
    { "H100-96GB", "NVIDIA GH200 480GB", 97871, &seven,
      NAMES("1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb") },
    { "H200-141GB", "NVIDIA H200", 143771, &seven,
      NAMES("1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb") },
    { "B200-180GB", "NVIDIA B200", 183359, &seven,
      NAMES("1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb") },
    { "GB200-186GB", "NVIDIA GB200", 189471, &seven,
      NAMES("1g.23gb", "1g.23gb+me", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb") },
    { "RTX-PRO-6000-96GB", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, &rtx,
      NAMES("1g.24gb", "1g.24gb+me", "1g.24gb+gfx", "1g.24gb+me.all", "1g.24gb-me", "2g.48gb",
            "2g.48gb+gfx", "2g.48gb+me.all", "2g.48gb-me", "4g.96gb", "4g.96gb+gfx") },
};

/* Words of a product name that say which model it is; of the rows whose words are all there the one
 * nearest in memory wins, then the first. A800 and H800 are A100 and H100 with slower links. */
static const struct {
    const char *words[4];
    const char *model;
} products[] = {
    { { "A30" }, "A30-24GB" },
    { { "A100", "40GB" }, "A100-40GB" },
    { { "A100", "80GB" }, "A100-80GB" },
    { { "A800", "40GB" }, "A100-40GB" },
    { { "A800", "80GB" }, "A100-80GB" },
    { { "A100" }, "A100-40GB" },
    { { "A100" }, "A100-80GB" },
    { { "A800" }, "A100-40GB" },
    { { "A800" }, "A100-80GB" },
    { { "GH200", "144G" }, NULL }, /* 144 GB: not in the tables */
    { { "GH200" }, "H100-96GB" },
    { { "H100", "NVL" }, "H100-94GB" },
    { { "H100", "94GB" }, "H100-94GB" },
    { { "H100", "96GB" }, "H100-96GB" },
    { { "H100", "64GB" }, NULL },
    { { "H100" }, "H100-80GB" },
    { { "H100" }, "H100-94GB" },
    { { "H100" }, "H100-96GB" },
    { { "H800" }, "H100-80GB" },
    { { "H20" }, "H100-96GB" },
    { { "H200" }, "H200-141GB" },
    { { "B200" }, "B200-180GB" },
    { { "GB200" }, "GB200-186GB" },
    { { "RTX", "PRO", "6000", "Blackwell" }, "RTX-PRO-6000-96GB" },
};

const struct sw_mig_model *sw_mig_models(size_t *n)
{
    *n = SW_COUNT(models);
    return models;
}

static const struct sw_mig_model *by_name(const char *name)
{
    for (size_t i = 0; name && i < SW_COUNT(models); i++)
        if (strcasecmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

/* Whether @word stands in @text between characters that are no letters or digits. */
static bool has_word(const char *text, const char *word)
{
    const size_t len = strlen(word);
    for (const char *p = text; (p = strcasestr(p, word)); p++)
        if ((p == text || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[len]))
            return true;
    return false;
}

const struct sw_mig_model *sw_mig_model_find(const char *product, uint32_t memory_mib)
{
    const struct sw_mig_model *best = by_name(product);
    if (best)
        return best;
    uint32_t best_off = UINT32_MAX;
    for (size_t i = 0; i < SW_COUNT(products); i++) {
        bool named = true;
        for (size_t w = 0; w < SW_COUNT(products[i].words) && products[i].words[w]; w++)
            named = named && has_word(product, products[i].words[w]);
        if (!named)
            continue;
        const struct sw_mig_model *m = by_name(products[i].model);
        if (!m)
            break;
        uint32_t off = 0;
        if (memory_mib)
            off = memory_mib > m->memory_mib ? memory_mib - m->memory_mib
                                             : m->memory_mib - memory_mib;
        /* driver and ECC take some of the memory; beyond a twelfth it is another GPU */
        if (off < m->memory_mib / 12 && off < best_off) {
            best = m;
            best_off = off;
        }
    }
    return best;
}
