#!/usr/bin/env bash
# Checks the files of dev/release.sh (make release), as root on Debian: installs the package on a new Debian without Swift, which
# is started with systemd as in production, buys something, kills and hangs the server, upgrades, removes and purges the package;
# starts the proxies of deploy/; runs the services of compose.yaml without Docker. Prints how long each step took.
#
#   dev/check-release.sh                          all parts
#   dev/check-release.sh files|machine|archive|proxies|compose
#
# It needs debootstrap, systemd-container, lintian, nginx and Caddy, which it installs, and 1 GB. ASSAY_SUITE names another release of
# Debian than bookworm.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/lib.sh

[ "$(id -u)" -eq 0 ] || fail "the checks of a release install packages and start machines; run them as root"
suite=${ASSAY_SUITE:-bookworm}
dist=$PWD/.build-release/dist
version=$(sed -nE 's/.*static let version = "(.*)"/\1/p' Server/Sources/assay/Assay.swift)
package=$dist/assay_${version}_$(dpkg --print-architecture).deb
archive=$dist/assay-$version-linux-$(uname -m).tar.xz
for file in "$package" "$archive" "$dist/SHA256SUMS"; do
    [ -e "$file" ] || fail "$file does not exist; build it with make release"
done
for program in debootstrap systemd-nspawn lintian nginx caddy nsenter; do
    has "$program" || install_packages debootstrap systemd-container lintian nginx-light caddy util-linux curl
done
make_temporary_folder check-release
# The programs in the new root would look for the folder there.
unset TMPDIR
trap finish EXIT
host=$folder/root
nspawn="" leader=""

finish() {
    local status=$?
    if [ -n "$nspawn" ] && kill -0 "$nspawn" 2>/dev/null; then
        kill "$nspawn" || true
        wait "$nspawn" 2>/dev/null || true
    fi
    clean_up
    [ "$status" -eq 0 ] || say "check-release failed"
    exit "$status"
}

# Runs a command, prints its seconds in a line of the table, and ends the script with its output if it fails.
timed() {
    local name=$1 begin end
    shift
    begin=$(date +%s%N)
    "$@" >"$folder/output" 2>&1 || { cat "$folder/output" >&2; fail "failed: $name"; }
    end=$(date +%s%N)
    printf '| %-62s | %7.2f |\n' "$name" "$(((end - begin) / 10000000))e-2"
}

# Fails unless the output of a command has a line that matches.
expect() {
    local pattern=$1 output
    shift
    output=$("$@" 2>&1) || { say "$output"; fail "failed: $*"; }
    grep -qE -- "$pattern" <<<"$output" || { say "$output"; fail "no '$pattern' in the output of: $*"; }
}

# Repeats a command for up to a minute until it succeeds.
until_true() {
    local tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "not true within a minute: $*"
        sleep 0.1
    done
}

# The machine: a Debian of debootstrap, started with its own systemd, its own network and its own users' processes.

make_root() {
    local kept=$PWD/.build-release/$suite.tar
    if ! [ -e "$kept" ]; then
        debootstrap --variant=minbase "$suite" "$folder/new-root" >"$folder/debootstrap.log" 2>&1 || fail "$(tail -n 5 "$folder/debootstrap.log")"
        # How this machine reaches the packages of Debian, such as a proxy.
        grep -ls '^Acquire::' /etc/apt/apt.conf.d/* | xargs -r cp -t "$folder/new-root/etc/apt/apt.conf.d/"
        cp /etc/resolv.conf "$folder/new-root/etc/resolv.conf"
        chroot "$folder/new-root" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends systemd-sysv procps' \
            >"$folder/debootstrap.log" 2>&1 || fail "$(tail -n 5 "$folder/debootstrap.log")"
        tar -C "$folder/new-root" --numeric-owner -cf "$kept.new" .
        rm -rf "$folder/new-root"
        mv "$kept.new" "$kept"
    fi
    mkdir -p "$host"
    tar -C "$host" -xf "$kept"
}

# What the package needs is fetched before, because the machine has no network.
fetch_needed() {
    chroot "$host" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --download-only $*"
}

start_machine() {
    systemd-nspawn --quiet --register=no --keep-unit --private-network --directory "$host" --machine assay-check --boot \
        >"$folder/machine.log" 2>&1 </dev/null &
    nspawn=$!
    local tries=0
    until leader=$(pgrep -P "$nspawn") && inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] && kill -0 "$nspawn" || { tail -n 20 "$folder/machine.log" >&2; fail "the machine did not start"; }
        sleep 0.1
    done
}

# Runs a command on the machine as root.
inside() {
    nsenter --target "$leader" --mount --uts --ipc --net --pid --root --wd -- \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# Runs a program of this machine in the network of the other.
beside() { nsenter --target "$leader" --net -- "$@"; }

as_assay() { inside setpriv --reuid assay --regid assay --clear-groups "$@"; }
is_ready() { beside curl -fsS --max-time 2 http://127.0.0.1:8080/readyz; }
property() { inside systemctl show --property "$1" --value assay; }

# The parts.

check_files() {
    (cd "$dist" && sha256sum --check --quiet SHA256SUMS)
    lintian --allow-root --fail-on error "$package" || fail "lintian has errors"
    rm -rf "$folder/unpacked"
    dpkg-deb -x "$package" "$folder/unpacked"
    # systemd-analyze looks for the program of a unit in the root.
    local unit exposure
    for unit in assay.service assay-backup.service; do
        cp "$folder/unpacked/lib/systemd/system/$unit" "$folder/$unit"
        sed -i "s|/usr/bin/assay|$folder/unpacked&|; s|/usr/lib/assay/backup|$folder/unpacked&|" "$folder/$unit"
        systemd-analyze verify --man=no "$folder/$unit" 2>"$folder/verify" || { cat "$folder/verify" >&2; fail "systemd-analyze verify $unit"; }
        exposure=$(systemd-analyze security --offline=true "$folder/$unit" | sed -nE 's/.*Overall exposure level for .*: ([0-9.]+) .*/\1/p')
        awk -v level="$exposure" 'BEGIN { exit !(level != "" && level < 2.0) }' || fail "$unit has the exposure $exposure; at most 2.0 is allowed"
        echo "$unit: systemd-analyze security $exposure"
    done
    local shown
    for shown in assay assay-serve assay-audit-verify; do
        [ -z "$(man --warnings -l "$folder/unpacked/usr/share/man/man1/$shown.1.gz" 2>&1 >/dev/null)" ] || fail "man has warnings for $shown"
    done
    bash -n "$folder/unpacked/usr/share/bash-completion/completions/assay"
    ! has zsh || zsh -n "$folder/unpacked/usr/share/zsh/vendor-completions/_assay"
    ! has fish || fish --no-execute "$folder/unpacked/usr/share/fish/vendor_completions.d/assay.fish"
    # The image has the packages that the program needs.
    local needed
    for needed in $(dpkg-deb -f "$package" Depends | tr ',' '\n' | awk '{ print $1 }' | grep -vE '^(libc6|libgcc-s1|adduser|init-system-helpers)$'); do
        grep -qw -- "$needed" Dockerfile || fail "the Dockerfile does not install $needed"
    done
    echo "files: sums, lintian, units, man pages, completions, packages of the image"
}

check_machine() {
    make_root
    [ ! -e "$host/opt/swift" ] && [ -z "$(find "$host/usr" -name 'libswift*' -print -quit)" ] || fail "the machine has Swift"
    cp "$package" "$host/root/assay.deb"
    local begin
    printf '\n| %-62s | %7s |\n|%s|%s:|\n' "step, on $suite without Swift" seconds "$(printf -- '-%.0s' {1..64})" "$(printf -- '-%.0s' {1..8})"
    timed "fetching what the package needs (apt, over the network)" fetch_needed ./root/assay.deb
    start_machine
    begin=$(date +%s%N)
    timed "install: apt-get install ./assay.deb, and the server is ready" inside apt-get install -y -qq /root/assay.deb
    is_ready >/dev/null || fail "the server is not ready after the installation"
    expect '^active' inside systemctl is-active assay
    expect "^assay +/usr/bin/assay serve --config /etc/assay/assay.yaml" inside ps -o user=,args= -p "$(property MainPID)"
    timed "start: systemctl restart, until READY=1" inside systemctl restart assay
    expect '^Serving' property StatusText

    # A receipt of a test authority, which the settings trust after a reload.
    inside install -d -o assay -g assay -m 0700 /var/lib/store
    as_assay sh -c 'cd /var/lib/store && assay mint --kind production --bundle-id com.example.game --authority authority -o receipt.b64' \
        >"$folder/mint.log" 2>&1 || fail "$(cat "$folder/mint.log")"
    inside sh -c 'cat >>/etc/assay/assay.yaml' <<'SETTINGS'
apps:
  game:
    bundle_ids: [com.example.game]
    products: { com.example.game.coins: { kind: consumable } }
SETTINGS
    # The service cannot see the folders of others, so the certificate goes beside the settings.
    inside sh -c 'cat /var/lib/store/authority/trust.pem >/etc/assay/trust.pem && sed -i "s|^server:|server:\n  trust: [trust.pem]|" /etc/assay/assay.yaml'
    timed "reload: systemctl reload, until READY=1 again" inside systemctl reload assay
    until_true verified_receipt
    printf '| %-62s | %7.2f |\n' "from the package to the first verified receipt" "$((($(date +%s%N) - begin) / 10000000))e-2"

    # A purchase in the simulated store, which the package has, too.
    inside setpriv --reuid assay --regid assay --clear-groups sh -c \
        'cd /var/lib/store && exec assay simulate --port 8090 --authority authority --log-level warning' >"$folder/store.log" 2>&1 </dev/null &
    servers="$servers $!"
    until_true beside curl -fsS --max-time 2 -o /dev/null http://127.0.0.1:8090/
    as_assay assay keys create --config /etc/assay/assay.yaml --app game --scope admin >"$folder/key" 2>"$folder/key.log" || fail "$(cat "$folder/key.log")"
    timed "first purchase: bought in the store, claimed, committed" purchase alice
    local bought
    bought=$(awk '{ print $1 }' "$folder/output")
    printf '| %-62s | %7.2f |\n' "from the package to the first purchase" "$((($(date +%s%N) - begin) / 10000000))e-2"

    timed "backup: the unit of the timer, with the audit of the copy" inside systemctl start assay-backup
    expect '^-rw-------.* assay ' inside sh -c 'ls -l /var/backups/assay/*.sqlite'
    expect '0 findings' inside journalctl --no-pager --unit assay-backup

    check_supervision
    upgrade_package "$bought"
    remove_package "$bought"
    stop_machine
}

verified_receipt() {
    printf '{"receipt-data":"%s"}' "$(inside cat /var/lib/store/receipt.b64)" |
        beside curl -fsS --max-time 5 --data @- http://127.0.0.1:8080/verifyReceipt | grep -q '"status":0'
}

purchase() { beside python3 dev/release/first_purchase.py http://127.0.0.1:8090 http://127.0.0.1:8080 "$(cat "$folder/key")" "$@"; }

# systemd starts the server again after a kill, and when it hangs. A hang is a stopped process; the watchdog is shortened for it.
check_supervision() {
    local process
    inside sh -c 'mkdir -p /run/systemd/system/assay.service.d && printf "[Service]\nWatchdogSec=2\nRestartSec=100ms\n" >/run/systemd/system/assay.service.d/check.conf && systemctl daemon-reload && systemctl restart assay'
    until_true is_ready
    # Longer than the limit of the watchdog: a server that works is left alone.
    sleep 5
    [ "$(property NRestarts)" = 0 ] || fail "the watchdog ended a server that works"
    process=$(property MainPID)
    timed "kill -9, until the server is ready again" restarted "$process" KILL
    process=$(property MainPID)
    timed "a hang (SIGSTOP, watchdog of 2 s), until it is ready again" restarted "$process" STOP
    expect 'watchdog' inside journalctl --no-pager --unit assay
    inside sh -c 'rm -r /run/systemd/system/assay.service.d && systemctl daemon-reload && systemctl restart assay'
    until_true is_ready
}

restarted() {
    inside kill "-$2" "$1"
    until_true is_replaced "$1"
    until_true is_ready
}
is_replaced() { [ "$(property MainPID)" != "$1" ] && [ "$(property MainPID)" != 0 ]; }

# Installs the same package with a higher version over it, as an upgrade, while somebody asks ten times a second.
upgrade_package() {
    local tree=$folder/next pause
    rm -rf "$tree"
    dpkg-deb -R "$package" "$tree"
    sed -i "s/^Version: .*/Version: $version+next/" "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone -b "$tree" "$host/root/next.deb" >/dev/null
    (while :; do
        is_ready >/dev/null 2>&1 || echo down
        sleep 0.1
    done) >"$folder/pause" &
    local watcher=$!
    servers="$servers $watcher"
    timed "upgrade: apt-get install over it, and the server is ready" inside apt-get install -y -qq /root/next.deb
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    pause=$(wc -l <"$folder/pause")
    is_ready >/dev/null || fail "the server is not ready after the upgrade"
    expect "next" inside dpkg-query -W assay
    purchase alice "$1"
    echo "upgrade: in $pause of the looks, ten a second, the server did not answer"
    inside grep -q com.example.game /etc/assay/assay.yaml || fail "the upgrade replaced the settings"
    # Both have the same schema (docs/operations.md, "Upgrade").
    timed "rollback: apt-get install of the version before, and the server is ready" \
        inside apt-get install -y -qq --allow-downgrades /root/assay.deb
    is_ready >/dev/null || fail "the server is not ready after the rollback"
    expect "$version\$" inside dpkg-query -W assay
    purchase alice "$1"
}

remove_package() {
    timed "removal: apt-get remove, the ledger is kept" inside apt-get remove -y -qq assay
    ! is_ready >/dev/null 2>&1 || fail "the server runs after the removal"
    inside test -s /var/lib/assay/assay.sqlite -a -e /etc/assay/assay.yaml || fail "the removal deleted the ledger or the settings"
    timed "installed again, with the ledger of before" inside apt-get install -y -qq /root/assay.deb
    until_true is_ready
    purchase alice "$1"
    timed "purge: the settings are deleted, the ledger is kept" inside apt-get purge -y -qq assay
    inside test ! -e /etc/assay -a ! -e /usr/bin/assay -a -s /var/lib/assay/assay.sqlite || fail "the purge kept the settings, or deleted the ledger"
}

stop_machine() {
    kill "$nspawn"
    wait "$nspawn" 2>/dev/null || true
    nspawn=""
    rm -rf --one-file-system "$host"
}

# The archive on the same Debian without systemd: its README names the packages that it needs.
check_archive() {
    make_root
    tar -C "$host/opt" -xf "$archive"
    local root needed
    root=/opt/$(basename "$archive" .tar.xz)
    needed=$(sed -nE 's/^\| `lib[^`]+\.so[^`]*` \| ([a-z0-9.+-]+) .*/\1/p' "$host$root/README.md" | sort -u | tr '\n' ' ')
    [ -n "$needed" ] || fail "the README of the archive names no package"
    # shellcheck disable=SC2086
    chroot "$host" env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq && apt-get install -y -qq --no-install-recommends $needed" >"$folder/output" 2>&1 ||
        { tail "$folder/output" >&2; fail "the packages that the README names cannot be installed"; }
    # Swift reads the arguments from /proc, which a plain chroot does not have.
    local within=(systemd-nspawn --quiet --register=no --keep-unit --private-network --pipe --directory "$host")
    expect "^assay $version \\([0-9a-f]{12}.*, 20" "${within[@]}" "$root/bin/assay" --version
    expect '^verified' "${within[@]}" sh -c "cd /tmp && $root/bin/assay mint -o r.b64 && $root/bin/assay verify --trust assay-authority/trust.pem r.b64"
    rm -rf --one-file-system "$host"
    echo "archive: runs on $suite with $needed"
}

# nginx and Caddy with the files of deploy/, in front of a server, with a certificate of this check.
check_proxies() {
    local backend port
    export PATH="$dist:$PATH"
    (cd "$folder" && assay mint --kind production --bundle-id com.example.game -o receipt.b64 >/dev/null 2>&1)
    printf '{"receipt-data":"%s"}' "$(cat "$folder/receipt.b64")" >"$folder/request.json"
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2 \
        -keyout "$folder/site.key" -out "$folder/site.pem" 2>/dev/null
    printf 'server: { trusted_proxies: [127.0.0.1] }\napps: { game: { bundle_ids: com.example.game } }\n' >"$folder/assay.yaml"
    start_server assay assay serve --config "$folder/assay.yaml" --port 0 --database "sqlite:$folder/assay.sqlite" --trust "$folder/assay-authority/trust.pem"
    backend=$address
    deploy/docker/health.sh "${backend##*:}" || fail "the health check of the image fails for a server that works"
    ! deploy/docker/health.sh 1 2>/dev/null || fail "the health check of the image succeeds without a server"
    port=$(free_port)
    sed -e "s|127.0.0.1:8080|${backend#http://}|; s|listen 443|listen 127.0.0.1:$port|; s|/etc/ssl/certs/.*pem|$folder/site.pem|" \
        -e "s|/etc/ssl/private/.*key|$folder/site.key|; s|purchases.example.com|localhost|" deploy/nginx.conf >"$folder/site.conf"
    mkdir -p "$folder/nginx"
    printf 'pid %s/nginx.pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; client_body_temp_path %s/nginx; proxy_temp_path %s/nginx; fastcgi_temp_path %s/nginx; uwsgi_temp_path %s/nginx; scgi_temp_path %s/nginx; include %s/site.conf; }\n' \
        "$folder" "$folder" "$folder" "$folder" "$folder" "$folder" "$folder" >"$folder/nginx.conf"
    nginx -q -t -c "$folder/nginx.conf"
    nginx -c "$folder/nginx.conf" -g 'daemon off;' >"$folder/nginx.log" 2>&1 &
    servers="$servers $!"
    ask_through nginx "$port"
    port=$(free_port)
    ASSAY_DOMAIN="https://localhost:$port" ASSAY_UPSTREAM="${backend#http://}" ASSAY_TLS="tls $folder/site.pem $folder/site.key" \
        XDG_DATA_HOME="$folder" XDG_CONFIG_HOME="$folder" caddy run --adapter caddyfile --config deploy/Caddyfile >"$folder/caddy.log" 2>&1 &
    servers="$servers $!"
    ask_through Caddy "$port"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Verifies a receipt through a proxy, and asks for what strangers may not see and for a body that is too large.
ask_through() {
    local url=https://localhost:$2
    until_true curl -sS --max-time 2 --cacert "$folder/site.pem" -o /dev/null "$url/openapi.yaml"
    expect '"status":0' curl -sS --cacert "$folder/site.pem" --data "@$folder/request.json" "$url/verifyReceipt"
    expect '^404$' curl -sS --cacert "$folder/site.pem" -o /dev/null -w '%{http_code}\n' "$url/readyz"
    head -c 18000000 /dev/zero >"$folder/large"
    # The proxy answers before it has read all of the body, and closes: then curl has the status and ends with 18 or 55.
    expect '^413$' sh -c 'curl -sS --cacert "$1" -o /dev/null -w "%{http_code}\n" --data-binary "@$2" "$3" || [ $? -eq 18 ] || [ $? -eq 55 ]' \
        sh "$folder/site.pem" "$folder/large" "$url/verifyReceipt"
    echo "$1: terminates TLS, passes requests on, hides /readyz, refuses large bodies"
}

# The commands, settings and folders of compose.yaml on a machine of this check, as its user, with PostgreSQL.
check_compose() {
    make_root
    cp "$package" "$host/root/assay.deb"
    chroot "$host" sh -c 'printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d'
    fetch_needed postgresql ./root/assay.deb >"$folder/output" 2>&1 || { tail "$folder/output" >&2; fail "cannot fetch PostgreSQL"; }
    chroot "$host" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql ./root/assay.deb >"$folder/output" 2>&1
    # Only the program of the package is used, not its service.
    ln -sf /dev/null "$host/etc/systemd/system/assay.service"
    start_machine
    local python=python3
    python3 -c 'import yaml' 2>/dev/null || python=$(python_tools compose PyYAML)/bin/python3
    "$python" dev/release/compose.py compose.yaml "$host" >"$folder/compose.sh"
    cp "$folder/compose.sh" "$host/root/compose.sh"
    inside bash /root/compose.sh >"$folder/compose.log" 2>&1 || { cat "$folder/compose.log" >&2; fail "the services of compose.yaml do not run"; }
    until_true is_ready
    # shellcheck disable=SC2046
    inside setpriv --reuid 10001 --regid 10001 --clear-groups env $(cat "$host/root/server.environment") assay keys create --app game --scope admin >"$folder/key" 2>"$folder/key.log" ||
        { cat "$folder/key.log" >&2; fail "no key was created"; }
    purchase alice
    inside rm -f /root/server.environment
    stop_machine
    echo "compose: server, store and PostgreSQL run with the commands and settings of the file"
}

[ $# -gt 0 ] || set -- files archive machine proxies compose
for part in "$@"; do
    case $part in
        files | archive | machine | proxies | compose) "check_$part" ;;
        *) fail "there is no part $part" ;;
    esac
done
echo "release: $version is as it should be"
