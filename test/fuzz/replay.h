#pragma once
/* Put in front of a fuzz target by the ordinary test build: a main() that runs the target over the
 * files of the folders given (its corpus, past crashes included) and speaks TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SW_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    static uint8_t bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    /* a block of the exact size: reading past its end is seen */
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy)
        return -1;
    memcpy(copy, bytes, len);
    (void)LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        if (!d)
            continue;
        for (struct dirent *e; (e = readdir(d));) {
            if (e->d_name[0] == '.')
                continue;
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            printf("%s %d - %s\n", replay_file(path) == 0 ? "ok" : "not ok", ++n, e->d_name);
            (void)fflush(stdout);
        }
        (void)closedir(d);
    }
    printf("1..%d\n", n);
    return 0;
}
#endif
