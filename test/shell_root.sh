# shell_root.sh: sourced by the tests that need a root folder with a shell in it.

shell_root() { # DIR
    local p lib
    mkdir -p "$1/bin"
    for p in dash sleep env grep cat; do
        cp "$(command -v $p)" "$1/bin/"
        for lib in $(ldd "$(command -v $p)" | grep -o '/[^ ]*'); do
            mkdir -p "$1${lib%/*}" && cp -L "$lib" "$1$lib"
        done
    done
    ln -sf dash "$1/bin/sh"
}
