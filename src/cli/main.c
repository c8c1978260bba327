#include "base/base.h"

#include <stdio.h>

int main(void)
{
    (void)printf("slipway " SW_VERSION "\n");
    return 0;
}
