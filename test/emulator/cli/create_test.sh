# slipway create, slipway init: each kind of recipe walks; on a terminal three questions are asked.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
cd "$tap_dir"

walks() { # KIND
    "$slipway" create "a-$1" --kind "$1" >said && grep -qx "created a-$1; try: slipway run a-$1 --emulate" said &&
        "$slipway" lint --strict "a-$1" >lint && [ ! -s lint ] && ! grep -rq '<NAME>\|<IMAGE>' "a-$1" &&
        "$slipway" run "a-$1" --emulate --delays 0 --timeout 60s >walk 2>&1 || { cat said lint walk; false; }
}

# A terminal on which LINE... are typed; what it shows is in ./shown. Exits as the command does.
typed() { # COMMAND LINE...
    local command=$1; shift
    printf '%s\n' "$@" | TERM=dumb script -qec "$command" /dev/null >shown 2>&1
}

asks_three() {
    typed "$slipway init" asked driver registry.example.com/me/asked && cat shown &&
        grep -q 'Name of the recipe, a new folder \[my-recipe\]: ' shown && grep -q 'Kind \[agent\]: ' shown &&
        grep -q '\[registry.example.com/asked\]: ' shown &&
        grep -qx 'image: registry.example.com/me/asked' asked/values.yaml && [ -f asked/templates/0000-driver.yaml ]
}

takes_defaults() {
    typed "$slipway create" "" "" "" && grep -qx 'image: busybox:1.36' my-recipe/values.yaml && [ -f my-recipe/templates/1000-agent.yaml ]
}

asks_again() {
    typed "$slipway init" Bad_Name my-recipe third nothing service 'a b' busybox:1.37; cat shown
    grep -q "'Bad_Name' is no name for a recipe" shown && grep -q "'my-recipe' exists already" shown &&
        grep -q 'one of agent, driver and service was expected' shown && grep -q "'a b' is no image" shown &&
        grep -qx 'image: busybox:1.37' third/values.yaml && [ -f third/templates/1000-service.yaml ]
}

asks_what_is_left() {
    typed "$slipway init --kind driver --image registry.example.com/x" fourth && ! grep -q 'Kind \[' shown &&
        grep -qx 'image: registry.example.com/x' fourth/values.yaml
}

ends() {
    local rc=0
    printf 'gone\n\004\004' | TERM=dumb script -qec "$slipway init" /dev/null >shown 2>&1 || rc=$?
    cat shown
    [ $rc -ne 0 ] && grep -q 'nothing was written' shown && [ ! -e gone ]
}

asks_nobody_in_a_pipe() {
    local rc=0
    echo piped | "$slipway" init >shown 2>&1 || rc=$?
    [ $rc -eq 2 ] && grep -q 'what is the recipe to be called?' shown && [ ! -e piped ]
}

refuses() { # TEXT OPTION...
    local text=$1 rc=0; shift
    "$slipway" create no "$@" >shown 2>&1 || rc=$?
    cat shown
    [ $rc -eq 2 ] && grep -qF -- "$text" shown && [ ! -e no ]
}

t "create: an agent lints and walks" walks agent
t "create: a driver lints and walks" walks driver
t "create: a service lints and walks" walks service
t "init asks for name, kind and image" asks_three
t "init: empty answers are the defaults" takes_defaults
t "init: what cannot be is asked again" asks_again
t "init asks only for what no option has said" asks_what_is_left
t "init: the end of the input writes nothing" ends
t "init asks nobody in a pipe" asks_nobody_in_a_pipe
t "create: a driver's image has no tag" refuses "a driver's image is named without a tag" --kind driver --image registry.example.com/x:1
t "create: what is no image is refused" refuses "is no image" --image 'x: y'
t "create: a kind that is none" refuses "--kind" --kind agnet
t "create: a kind is not for a Module" refuses "are for a recipe of nothing else" --from-kmm x.yaml --kind agent
plan
