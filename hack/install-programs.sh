#!/bin/sh
# install-programs.sh DESTDIR PREFIX [PROGRAMS]: put the programs of the folder PROGRAMS (build), manual pages and completions
# below DESTDIR/PREFIX, and the recipes, which `slipway run NAME` finds there. kubectl-slipway makes `kubectl slipway`
# work, kubectl_complete-slipway completes it.
# Pages and completions are those of build/slipway, which this machine can run.
set -eu
cd "$(dirname "$0")/.."
to=$1$2
for p in slipway slipway-webhook slipway-scheduler slipway-device-plugin; do
    install -D -m 755 "${3:-build}/$p" "$to/bin/$p"
done
ln -sf slipway "$to/bin/kubectl-slipway"
install -m 755 hack/kubectl_complete-slipway "$to/bin/kubectl_complete-slipway"
for page in build/man/*.1; do
    install -D -m 644 "$page" "$to/share/man/man1/${page##*/}"
done
mkdir -p "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
build/slipway completion bash >"$to/share/bash-completion/completions/slipway"
build/slipway completion zsh >"$to/share/zsh/site-functions/_slipway"
build/slipway completion fish >"$to/share/fish/vendor_completions.d/slipway.fish"
find recipes states charts -type f | while read -r file; do
    install -D -m 644 "$file" "$to/share/slipway/$file"
done
echo "programs, manual pages, completions and recipes are below $to"
