#!/bin/sh
# Patroni 3.0.2 (that of Debian 12) under "etcd3:" overwrites the leader lock of the successor. A primary is stopped for longer
# than ttl after it read the lock, and before it renews it; the standby takes over; the old primary continues, renews the lock that
# it no longer has, and stays primary, and the successor steps down. A row that the successor committed is not there any more.
# 3.0.3 (pull requests 2689 and 2693) leaves the lock alone: the old primary steps down, and the row is there.
# In a run that was watched for 70 seconds, pg_rewind took the successor back, and GET /cluster named no synchronous standby to the
# end: the old primary logged "Synchronous replication key updated by someone else" in each loop.
# Needs etcd, and PostgreSQL 15 where Debian has it (apt: etcd-server, postgresql-15), and a plain user, as initdb refuses root.
# Each pair has 110 seconds to take over and 40 to show it; where the disk is slow, set TMPDIR=/dev/shm.
set -eu
programs=/usr/lib/postgresql/15/bin
if [ "$(id -u)" = 0 ] || ! command -v etcd >/dev/null || ! [ -x $programs/initdb ]; then
    echo "needs a plain user, and etcd-server and postgresql-15 of Debian 12" >&2
    exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 3.0.2 3.0.3; do
    python3 -m venv "$version"
    "$version/bin/pip" -q install "patroni[etcd3]==$version" 'psycopg[binary]==3.3.9' urllib3==1.26.20 psutil==7.2.2 2>log \
        || { cat log; exit 2; }
done
cat >lock.py <<'PYTHON'
import base64, json, os, pathlib, signal, socket, subprocess, sys, time, urllib.request
import psutil

programs, version, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[2]).resolve()
TTL, WATCHED, END = 20, 40, time.monotonic() + 110
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(6)]
places = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
for each in sockets:
    each.close()
client, peer = (f"http://{place}" for place in places[:2])

def ask(address, body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body and json.dumps(body).encode()), timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return {}

def lock():
    """The holder, the revision of etcd that created the key, and how often it was written since."""
    found = ask(f"{client}/v3/kv/range", {"key": base64.b64encode(b"/service/demo/leader").decode()}).get("kvs")
    return (base64.b64decode(found[0]["value"]).decode(), found[0]["create_revision"], found[0]["version"]) if found else ("nobody", "-", "-")

def until(what, text):
    while not what():
        if time.monotonic() > END:
            print(f"too slow: {text}")
            sys.exit(2)
        time.sleep(0.5)

class Node:
    def __init__(self, name, place, rest):
        self.place, self.rest, self.folder = place, rest, folder / name
        self.folder.mkdir()
        (self.folder / "patroni.yml").write_text(json.dumps({
            "scope": "demo", "name": name, "etcd3": {"host": places[0]}, "restapi": {"listen": rest, "connect_address": rest},
            "bootstrap": {"dcs": {"ttl": TTL, "loop_wait": 2, "retry_timeout": 8, "synchronous_mode": True,
                                  "postgresql": {"use_pg_rewind": True, "parameters": {"fsync": "off"}}},
                          "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
            "postgresql": {"listen": place, "connect_address": place, "bin_dir": programs, "data_dir": f"{self.folder}/data",
                           "pgpass": f"{self.folder}/pgpass", "parameters": {"unix_socket_directories": str(self.folder)},
                           "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}},
                           "pg_hba": ["local all all trust", "host all,replication all 127.0.0.1/32 trust"]}}))
        with open(self.folder / "log", "w") as log:
            self.patroni = psutil.Popen([f"{folder}/bin/patroni", f"{self.folder}/patroni.yml"], stdout=log, stderr=log)

    def log(self):
        return (self.folder / "log").read_text()

    def postgres(self):
        """The postmaster, which is no child of Patroni, and its processes."""
        try:
            master = psutil.Process(int((self.folder / "data/postmaster.pid").read_text().split()[0]))
            return [master, *master.children(recursive=True)] if "postgres" in master.name() else []
        except (OSError, ValueError, IndexError, psutil.Error):
            return []

    def members(self):
        return {each["name"]: each["role"] for each in ask(f"http://{self.rest}/cluster").get("members", [])}

    def sql(self, text):
        host, port = self.place.split(":")
        run = subprocess.run([f"{programs}/psql", f"host={host} port={port} user=postgres connect_timeout=5", "-qAtc", text],
                             capture_output=True, text=True, timeout=20)
        return run.stdout.strip() if run.returncode == 0 else None

    def end(self):
        processes = [self.patroni, *self.patroni.children(recursive=True), *self.postgres()]
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(processes, timeout=10)

def send(number, processes):
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            pass

nodes, quiet = {}, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
etcd = subprocess.Popen(["etcd", "--data-dir", f"{folder}/etcd", "--listen-client-urls", client, "--advertise-client-urls", client,
                         "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], **quiet)
try:
    until(lambda: ask(f"{client}/health"), "etcd does not answer")
    a = nodes["a"] = Node("a", *places[2:4])
    until(lambda: a.members().get("a") == "leader", "a does not lead")
    b = nodes["b"] = Node("b", *places[4:6])
    until(lambda: a.members().get("b") == "sync_standby", "b is no synchronous standby")
    assert a.sql("CREATE TABLE orders (name text)") is not None
    # PostgreSQL stops between two loops of Patroni, which then reads the lock and waits for PostgreSQL before it renews it.
    loops = a.log().count("no action")
    until(lambda: a.log().count("no action") > loops, "a has no loop")
    stopped = a.postgres()
    send(signal.SIGSTOP, stopped)
    time.sleep(4)
    stopped.append(a.patroni)
    send(signal.SIGSTOP, [a.patroni])
    until(lambda: lock()[0] == "b" and b.sql("INSERT INTO orders VALUES ('acknowledged by b')") is not None, "b does not take over")
    taken = lock()
    print("a is stopped, b took over: lock of %s, created by revision %s, version %s; b committed a row" % taken, flush=True)
    send(signal.SIGCONT, stopped)
    since, members, now = time.monotonic(), {}, taken
    while time.monotonic() < since + WATCHED:
        time.sleep(1)
        members, now = b.members(), lock()
        # The record of a expired; it is there again when a has decided.
        if (now[0], members.get("a"), members.get("b")) in (("a", "leader", "replica"), ("b", "replica", "leader")):
            break
    print("a continued, %d s later: lock of %s, created by revision %s, version %s; " % (time.monotonic() - since, *now), end="")
    rows = nodes[now[0]].sql("SELECT count(*) FROM orders") if now[0] in nodes else None
    print(f"GET /cluster: {members}")
    held = "overwritten" if now[:2] == ("a", taken[1]) else "kept" if now == taken else "neither overwritten nor kept"
    print(f"result: lock {held}, a is {members.get('a')}, b is {members.get('b')}, rows: {rows}")
finally:
    for node in nodes.values():
        node.end()
    etcd.kill()
    etcd.wait()
PYTHON
for version in 3.0.2 3.0.3; do
    "$version/bin/python" lock.py $programs $version >$version.out || { cat $version.out; exit 2; }
    sed "s/^/$version: /" $version.out
done
grep -qx 'result: lock overwritten, a is leader, b is replica, rows: 0' 3.0.2.out
grep -qx 'result: lock kept, a is replica, b is leader, rows: 1' 3.0.3.out
