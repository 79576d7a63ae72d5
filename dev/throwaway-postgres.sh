#!/bin/sh
# Starts a separate PostgreSQL for tests and benchmarks, prints its folder and its port, and stops and deletes it when a process
# ends.
#
#   dev/throwaway-postgres.sh PROCESS [SETTING=VALUE…]
#
# It listens on a socket in the folder and on the port of 127.0.0.1. Every user of this machine may connect, as the user assay.
# With ssl=on it has its own certificate, data/server.crt.
# PostgreSQL refuses to run as root, so root starts it as the user postgres, or nobody. Exit status 3: PostgreSQL is not installed.
set -eu
# A test runner can start this while it has connections of other tests. PostgreSQL outlives them, and a connection that it inherited
# would stay open after the runner closes it. The shell cannot close descriptors above 9.
if [ -z "${ASSAY_DESCRIPTORS_CLOSED:-}" ]; then
    export ASSAY_DESCRIPTORS_CLOSED=1
    exec python3 -c 'import os, sys; os.closerange(3, 65536); os.execv("/bin/sh", ["sh"] + sys.argv[1:])' "$0" "$@"
fi
cd "$(dirname "$0")/.."
. dev/lib.sh

process=$1
shift
programs=""
# Of several, the one in PATH.
for place in /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin "$(dirname "$(command -v initdb || echo /none/initdb)")"; do
    if [ -x "$place/initdb" ] && [ -x "$place/createdb" ]; then programs=$place; fi
done
if [ -z "$programs" ]; then
    say "PostgreSQL is not installed (Debian: postgresql, macOS: brew install postgresql)"
    exit 3
fi

# Memory is faster than a disk, above all for the hundreds of files of each database. Whoever wants fsync wants the disk.
place=/tmp
if [ "$(df --output=fstype /dev/shm 2>/dev/null | tail -n 1)" = tmpfs ] && [ -w /dev/shm ] &&
    [ "$(df --output=avail /dev/shm | tail -n 1)" -gt 2097152 ]; then
    place=/dev/shm
fi
for setting in "$@"; do
    [ "$setting" != fsync=on ] || place=/tmp
done
folder=$(mktemp -d "$place/assay-postgres-XXXXXX")
as=""
if [ "$(id -u)" -eq 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$folder"
    as="setpriv --reuid $user --regid $(id -g "$user") --clear-groups"
fi
cd "$folder"
# shellcheck disable=SC2086
$as "$programs/initdb" -D "$folder/data" -U assay --auth trust --encoding UTF8 --locale C --no-sync >"$folder/initdb.log" 2>&1 || {
    cat "$folder/initdb.log" >&2
    exit 1
}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# The data need not survive a loss of power, and tests open many databases.
cat >>"$folder/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$folder'
max_connections = 600
shared_buffers = 128MB
fsync = off
full_page_writes = off
autovacuum_naptime = 10s
SETTINGS
for setting in "$@"; do
    printf '%s\n' "$setting" >>"$folder/data/postgresql.conf"
    if [ "$setting" = ssl=on ]; then
        openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -days 2 \
            -keyout "$folder/data/server.key" -out "$folder/data/server.crt" 2>"$folder/openssl.log"
        chmod 600 "$folder/data/server.key"
        if [ -n "$as" ]; then chown "$user" "$folder/data/server.key" "$folder/data/server.crt"; fi
    fi
done
# shellcheck disable=SC2086
$as "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 120 start >"$folder/start.log" 2>&1 || {
    cat "$folder/start.log" "$folder/server.log" >&2
    exit 1
}

# The watcher outlives this script, even if the process is killed. Another process can get the same number soon, so the start time
# is compared, too.
started=$(ps -o lstart= -p "$process" || true)
# Tests stop the server and start it again.
cat >"$folder/control" <<CONTROL
#!/bin/sh
cd "$folder"
exec $as "$programs/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 "\$@"
CONTROL
chmod 755 "$folder/control"
(
    while [ -n "$started" ] && [ "$(ps -o lstart= -p "$process")" = "$started" ]; do sleep 1; done
    "$folder/control" -m immediate stop || true
    cd / && rm -rf "$folder"
) >/dev/null 2>&1 </dev/null &
printf '%s\n%s\n%s\n' "$folder" "$port" "$programs"
