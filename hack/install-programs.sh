#!/bin/sh
# install-programs.sh DESTDIR PREFIX: put the built programs, their manual pages and completions below DESTDIR/PREFIX.
# kubectl-slipway makes `kubectl slipway` work.
set -eu
cd "$(dirname "$0")/.."
to=$1$2
for p in slipway slipway-webhook slipway-scheduler slipway-device-plugin; do
    install -D -m 755 "build/$p" "$to/bin/$p"
done
ln -sf slipway "$to/bin/kubectl-slipway"
for page in build/man/*.1; do
    install -D -m 644 "$page" "$to/share/man/man1/${page##*/}"
done
mkdir -p "$to/share/bash-completion/completions" "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d"
build/slipway completion bash >"$to/share/bash-completion/completions/slipway"
build/slipway completion zsh >"$to/share/zsh/site-functions/_slipway"
build/slipway completion fish >"$to/share/fish/vendor_completions.d/slipway.fish"
echo "programs, manual pages and completions are below $to"
