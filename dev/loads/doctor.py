"""Breaks an installation in ten ways, and prints what `assay doctor` says to each, as a table.

Each is a copy of one installation that a server has used. A full disk is a small tmpfs, which only root can mount: without that right
its row is left out. The examination must fail each of them, in the check that is meant.
"""
import contextlib
import datetime
import http.server
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading

from loads.server import SECRET, PostgreSQL, RunningServer

SETTINGS = """server: { port: 0 }
record: { checkpoints: [published] }
apps:
  game: { bundle_ids: com.example.app, products: { coins: { kind: consumable } } }
"""


class Installation:
    """A folder with settings, a ledger, keys and a backup."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def run(self, *arguments, check=True):
        return subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=check)

    def write(self, old="", new=""):
        (self.folder / "assay.yaml").write_text(SETTINGS.replace(old, new) if old else SETTINGS)

    def grant(self, customer):
        self.run("customers", "grant", "--app", "game", customer, "coins", "--reason", "test")

    def sql(self, text):
        with contextlib.closing(sqlite3.connect(self.folder / "assay.sqlite")) as connection:
            connection.executescript(text)


# Each breaks an installation, and yields the options of its examination.

def postgresql(*statements):
    @contextlib.contextmanager
    def broken(installation):
        database = PostgreSQL()
        before, after = statements
        for statement in before:
            database.sql(statement)
        installation.run("migrate", "--database", database.url)
        for statement in after:
            database.sql(statement)
        yield ["--database", database.url]
    return broken


@contextlib.contextmanager
def older_schema(installation):
    installation.sql("DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")
    yield []


@contextlib.contextmanager
def open_key(installation):
    for path in installation.folder.rglob("*.key"):
        path.chmod(0o644)
    yield []


@contextlib.contextmanager
def expired_anchor(installation):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from loads.evidence import certificate, named
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    old = certificate(named("Example Root CA"), named("Example Root CA"), key, key, now - datetime.timedelta(400), now - datetime.timedelta(1))
    (installation.folder / "old.pem").write_bytes(old.public_bytes(serialization.Encoding.PEM))
    installation.write("port: 0", "port: 0, trust: [old.pem]")
    yield []


@contextlib.contextmanager
def wrong_clock(installation):
    """The entries are of an hour later: to the machine, that is a clock which is an hour behind."""
    with contextlib.closing(sqlite3.connect(installation.folder / "assay.sqlite")) as connection:
        triggers = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'")]
    installation.sql("".join(f"DROP TRIGGER {name};" for name in triggers) + "UPDATE journal SET at = at + 3600000")
    yield []


@contextlib.contextmanager
def busy_port(installation):
    with socket.create_server(("127.0.0.1", 0)) as other:
        installation.write("port: 0", f"port: {other.getsockname()[1]}")
        yield []


@contextlib.contextmanager
def broken_webhook(installation):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_error(500)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hook = f"webhooks: [{{ url: 'http://127.0.0.1:{server.server_port}/', secrets: [{SECRET}], allow_hosts: [127.0.0.1] }}], "
    installation.write("bundle_ids", hook + "bundle_ids")
    yield []
    server.shutdown()


@contextlib.contextmanager
def full_disk(installation):
    disk = installation.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True).returncode:
        print("a full disk is left out: only root can mount a small file system", file=sys.stderr)
        yield None
        return
    shutil.copy(installation.folder / "assay.sqlite", disk)
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "other").write_bytes(bytes(free - (600 << 10)))
    yield ["--database", f"sqlite:{disk}/assay.sqlite"]
    subprocess.run(["umount", "-l", disk])


@contextlib.contextmanager
def no_checkpoint(installation):
    installation.grant("bob")
    two_days = datetime.datetime.now().timestamp() - 2 * 86_400
    os.utime(installation.folder / "published", (two_days, two_days))
    yield []


CASES = [
    ("the database is read-only", "database_writes", postgresql([], ["ALTER DATABASE assay SET default_transaction_read_only = on"])),
    ("an older schema", "database_schema", older_schema),
    ("keys with the mode 0644", "keys", open_key),
    ("an anchor that expired yesterday", "certificates", expired_anchor),
    ("the machine's clock is an hour behind", "clock", wrong_clock),
    ("another program has the port", "listening", busy_port),
    ("a webhook answers 500", "webhooks", broken_webhook),
    ("the disk is 99 % full", "database_space", full_disk),
    ("no checkpoint for two days", "checkpoints", no_checkpoint),
    ("PostgreSQL without fsync", "database_durability", postgresql(["ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"], [])),
]


def doctor(options):
    missed = []
    print("| broken | `assay doctor` says | to do |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="assay-doctor-") as folder:
        whole = Installation(options.program, os.path.join(folder, "whole"))
        whole.folder.mkdir()
        whole.write()
        whole.run("keys", "create", "--app", "game", "--scope", "admin")
        server = RunningServer([options.program, "serve"], whole.folder)
        whole.grant("alice")
        server.stop()
        (whole.folder / "backups").mkdir()
        whole.run("backup", "backups/a.sqlite")
        for number, (name, check, broken) in enumerate([("nothing", None, lambda _: contextlib.nullcontext([])), *CASES]):
            copy = Installation(options.program, os.path.join(folder, str(number)))
            shutil.copytree(whole.folder, copy.folder)
            with broken(copy) as arguments:
                if arguments is None:
                    continue
                examined = copy.run("doctor", "--json", "--backups", "backups", *arguments, check=False)
            failed = {finding["check"]: finding for finding in json.loads(examined.stdout)["findings"] if finding["state"] == "failed"}
            if examined.returncode != (check is not None) or (check and check not in failed):
                missed.append(f"{name}: exit {examined.returncode}, failed {failed}")
            elif check:
                texts = [failed[check][part].replace(f"{copy.folder}/", "").replace(folder, "…").replace("|", "\\|") for part in ("found", "action")]
                print(f"| {name} | `{check}` failed: {texts[0]} | {texts[1]} |", flush=True)
    if missed:
        raise SystemExit("not as expected: " + "\n".join(missed))
