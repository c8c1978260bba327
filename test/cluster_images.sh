# cluster_images.sh: sourced by the tests that install slipway from images on the real cluster.

# images_imported: all programs' images, packed from the build as slipway.local/PROGRAM:e2e. A cluster is
# brought up for one run of the tests: what a test before this one imported is of the same build.
images_imported() {
    local p there
    there=$(ctr -a "$SLIPWAY_CLUSTER_DIR/containerd.sock" -n k8s.io images ls -q)
    [ "$(grep -c '^slipway\.local/slipway[a-z-]*:e2e$' <<<"$there")" != 4 ] || return 0
    ( # another cluster's test may pack them now
        flock 9
        make -s local-image-build TAG=e2e REGISTRY=slipway.local || exit 1
        for p in build/images/*.tar; do
            ctr -a "$SLIPWAY_CLUSTER_DIR/containerd.sock" -n k8s.io images import "$p" || exit 1
        done
    ) 9>build/images.lock
}
