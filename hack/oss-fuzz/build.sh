#!/bin/bash -eu
# build.sh: what OSS-Fuzz runs in its builder, in the source's folder, with CFLAGS, LIB_FUZZING_ENGINE and OUT.
FUZZ_CFLAGS=$CFLAGS FUZZ_ENGINE=$LIB_FUZZING_ENGINE hack/fuzz.sh --build "$OUT"
