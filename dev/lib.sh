# shellcheck shell=sh
# Functions that the scripts in dev/ share: messages, packages, temporary folders, builds and servers. A script sources it with
#
#   set -eu
#   cd "$(dirname "$0")/.."
#   . dev/lib.sh

# Writes a message to standard error.
say() { echo "$@" >&2; }

# Ends the script with a message.
fail() {
    say "$@"
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Installs Debian packages as root or through sudo, without questions. Fails if that is not possible.
install_packages() {
    has apt-get || return 1
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || return 1
        as_root="sudo"
    fi
    say "Installing $*"
    messages=$(mktemp)
    if $as_root apt-get update -qq </dev/null >"$messages" 2>&1 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
            </dev/null >>"$messages" 2>&1; then
        rm -f "$messages"
        return 0
    fi
    say "apt-get cannot install them: $(tail -n 1 "$messages")"
    rm -f "$messages"
    return 1
}

# True if the C headers of OpenSSL are installed, after an attempt to install them.
has_openssl_headers() {
    { has pkg-config && pkg-config --exists libcrypto; } && return 0
    install_packages pkg-config libssl-dev && pkg-config --exists libcrypto
}

# Creates a temporary folder, `$folder`. It is removed, and running servers are stopped, when the script ends.
folder=""
make_temporary_folder() {
    folder=$(mktemp -d "${TMPDIR:-/tmp}/assay-$1.XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

clean_up() {
    for process in $servers; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    [ -z "$folder" ] || rm -rf "$folder"
}

# Builds a product of one of the packages (., Server, Benchmarks) and prints nothing unless
# the build fails. All packages share .build, so that common code is compiled once per configuration. The cached build plan of
# that folder belongs to the package that was built last, so it is not used.
scratch="$PWD/.build"
build_product() {
    # shellcheck disable=SC2086
    output=$(swift build -c "$1" --package-path "$2" --scratch-path "$scratch" --disable-build-manifest-caching \
        --product "$3" ${ASSAY_BUILD_OPTIONS:-} 2>&1) || fail "$output"
}

# The folder into which build_product builds.
products_folder() { swift build -c "$1" --scratch-path "$scratch" --show-bin-path; }

# The program in the folder that the caller names, or that of the optimised build.
find_program() {
    program="${1:-.build/release}/assay"
    case $program in /*) ;; *) program="$PWD/$program" ;; esac
    [ -x "$program" ] || fail "$program does not exist; build it with make build"
}

# Starts a server and waits until it prints its address. Sets `$server` (the process) and `$address`; its output is written to
# NAME.out and NAME.errors in `$folder`. Let servers choose a free port with --port 0.
#
#   start_server NAME COMMAND [ARGUMENT…]
servers=""
server=""
address=""
start_server() {
    name=$1
    shift
    "$@" >"$folder/$name.out" 2>"$folder/$name.errors" </dev/null &
    server=$!
    servers="$servers $server"
    tries=0
    while true; do
        address=$(grep -o 'http://[0-9.:]*' "$folder/$name.out" | head -n 1) || true
        [ -z "$address" ] || return 0
        tries=$((tries + 1))
        if [ "$tries" -ge 600 ] || ! kill -0 "$server" 2>/dev/null; then
            fail "$1 did not start: $(cat "$folder/$name.out" "$folder/$name.errors")"
        fi
        sleep 0.1
    done
}

# Starts a PostgreSQL that ends with the script, with settings: `$postgres_folder`, `$postgres_port`. False if it is not installed.
start_postgres() {
    status=0
    place=$(dev/throwaway-postgres.sh $$ "$@") || status=$?
    if [ "$status" -eq 3 ]; then
        say "PostgreSQL is not installed, so it is left out."
        return 1
    fi
    [ "$status" -eq 0 ] || fail "PostgreSQL does not start"
    # shellcheck disable=SC2034
    { read -r postgres_folder && read -r postgres_port; } <<END
$place
END
}

# Stops the server that was started last, and returns its exit status.
stop_server() {
    stopped=$server
    remaining=""
    for process in $servers; do
        [ "$process" = "$stopped" ] || remaining="$remaining $process"
    done
    servers=$remaining
    server=""
    kill "$stopped"
    wait "$stopped"
}

# Installs packages from PyPI into a virtual environment, once, and prints its folder. Fails if that is not possible.
#
#   python_tools NAME REQUIREMENT…
python_tools() {
    tools="$PWD/.build-$1"
    shift
    if ! [ -e "$tools/ready" ] || [ "$(cat "$tools/ready")" != "$*" ]; then
        rm -rf "$tools"
        { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check "$@"; } \
            </dev/null >&2 || { rm -rf "$tools"; return 1; }
        echo "$*" >"$tools/ready"
    fi
    echo "$tools"
}
