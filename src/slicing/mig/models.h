#pragma once
/* models: the rows that a geometry is made of. Internal to mig. */
#include <stdint.h>

/** One row of `nvidia-smi mig -lgip` and -lgipp. */
struct sw_mig_layout_row {
    uint8_t gi_id, gi_profile, ci_profile;
    uint8_t size;
    uint16_t starts; /* bit i: may begin at memory slice i */
};

struct sw_mig_layout {
    const struct sw_mig_layout_row *rows;
    uint8_t n_rows;
};
