"""Breaks an installation in ten ways, and prints what `assay doctor` says to each, as a table.

Each is a copy of one installation that a server has used. A full disk is a small tmpfs, which only root can mount: without that right
its row is left out. The examination must fail each of them, in the check that is meant.
"""
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile

from loads.server import PostgreSQL, RunningServer, WebhookReceiver

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


# Each breaks an installation, and may return options of its examination. What it calls back ends with the case.

def postgresql(*statements):
    def broken(installation, _):
        database, (before, after) = PostgreSQL(), statements
        for statement in before:
            database.sql(statement)
        installation.run("database", "migrate", "--database", database.url)
        for statement in after:
            database.sql(statement)
        return ["--database", database.url]
    return broken


def older_schema(installation, _):
    installation.sql("DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")


def open_key(installation, _):
    for path in installation.folder.rglob("*.key"):
        path.chmod(0o644)


def expired_anchor(installation, _):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from loads.evidence import certificate, named
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    old = certificate(named("Example Root CA"), named("Example Root CA"), key, key, now - datetime.timedelta(400), now - datetime.timedelta(1))
    (installation.folder / "old.pem").write_bytes(old.public_bytes(serialization.Encoding.PEM))
    installation.write("port: 0", "port: 0, trust: [old.pem]")


def wrong_clock(installation, _):
    """The entries are of an hour later: to the machine, that is a clock which is an hour behind."""
    with contextlib.closing(sqlite3.connect(installation.folder / "assay.sqlite")) as connection:
        triggers = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'")]
    installation.sql("".join(f"DROP TRIGGER {name};" for name in triggers) + "UPDATE journal SET at = at + 3600000")


def busy_port(installation, stack):
    other = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    installation.write("port: 0", f"port: {other.getsockname()[1]}")


def broken_webhook(installation, stack):
    receiver = WebhookReceiver(500)
    stack.callback(receiver.server.shutdown)
    installation.write("bundle_ids", f"webhooks: [{receiver.hook}], bundle_ids")


def full_disk(installation, stack):
    disk = installation.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True).returncode:
        raise LeftOut("a full disk is left out: only root can mount a small file system")
    stack.callback(subprocess.run, ["umount", "-l", disk])
    shutil.copy(installation.folder / "assay.sqlite", disk)
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "other").write_bytes(bytes(free - (600 << 10)))
    return ["--database", f"sqlite:{disk}/assay.sqlite"]


def no_checkpoint(installation, _):
    installation.grant("bob")
    two_days = datetime.datetime.now().timestamp() - 2 * 86_400
    os.utime(installation.folder / "published", (two_days, two_days))


class LeftOut(Exception):
    """A case that this machine does not allow."""


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
        whole.run("database", "backup", "backups/a.sqlite")
        for number, (name, check, broken) in enumerate([("nothing", None, lambda *_: []), *CASES]):
            copy = Installation(options.program, os.path.join(folder, str(number)))
            shutil.copytree(whole.folder, copy.folder)
            with contextlib.ExitStack() as stack:
                try:
                    arguments = broken(copy, stack) or []
                except LeftOut as reason:
                    print(reason, file=sys.stderr)
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
