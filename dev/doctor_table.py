#!/usr/bin/env python3
"""Breaks an installation in ten ways, and prints what `assay doctor` says to each, as the table of docs/operations.md.

usage: doctor_table.py PROGRAM

Each is a copy of one installation that a server has used. A full disk is a small tmpfs, which only root can mount: without that right
its row is left out, with a message. PostgreSQL is a throwaway one. The exit status is 0 if the examination failed each of them, in the
check that is meant.
"""
import datetime
import http.server
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kill_servers import PostgreSQL
from running_server import RunningServer

SETTINGS = """server: { port: 0 }
record: { checkpoints: [published] }
apps:
  game: { bundle_ids: com.example.app, products: { coins: { kind: consumable } } }
"""
HOOK = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


class Installation:
    """A folder with settings, a ledger, keys and a backup."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *arguments, **more):
        return subprocess.run(
            [self.program, *arguments], cwd=self.folder, capture_output=True, text=True, **more)

    def write(self, settings):
        with open(self.path("assay.yaml"), "w") as file:
            file.write(settings)

    def make(self):
        self.write(SETTINGS)
        self.run("keys", "create", "--app", "game", "--scope", "admin", check=True)
        server = RunningServer([self.program, "serve"], self.folder)
        self.grant("alice")
        server.stop()
        os.mkdir(self.path("backups"))
        self.run("backup", "backups/a.sqlite", check=True)
        return self

    def grant(self, customer):
        self.run("customers", "grant", "--app", "game", customer, "coins", "--reason", "test", check=True)

    def sql(self, text, database="assay.sqlite"):
        connection = sqlite3.connect(self.path(database))
        connection.executescript(text)
        connection.close()

    def doctor(self, *options):
        result = self.run("doctor", "--json", "--backups", "backups", *options)
        return json.loads(result.stdout)["findings"], result.returncode


def read_only(installation, _):
    database = PostgreSQL()
    url = f"postgres:///assay?host={database.folder}&port={database.port}&user=assay"
    installation.run("migrate", "--database", url, check=True)
    database.rows("SELECT 1")
    subprocess.run([f"{database.programs}/psql", *database.place, "-qc",
                    "ALTER DATABASE assay SET default_transaction_read_only = on", "assay"], check=True)
    return installation.doctor("--database", url)


def older_schema(installation, _):
    installation.sql("DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")
    return installation.doctor()


def open_key(installation, _):
    for folder, _, names in os.walk(installation.folder):
        for name in names:
            if name.endswith(".key"):
                os.chmod(os.path.join(folder, name), 0o644)
    return installation.doctor()


def expired_anchor(installation, _):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Example Root CA")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(7).not_valid_before(now - datetime.timedelta(days=400))
        .not_valid_after(now - datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256()))
    with open(installation.path("old.pem"), "wb") as file:
        file.write(certificate.public_bytes(serialization.Encoding.PEM))
    installation.write(SETTINGS.replace("port: 0", "port: 0, trust: [old.pem]"))
    return installation.doctor()


def wrong_clock(installation, _):
    """The entries are of an hour later: to the machine, that is a clock which is an hour behind."""
    connection = sqlite3.connect(installation.path("assay.sqlite"))
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'")
    names = [row[0] for row in triggers]
    connection.close()
    installation.sql("".join(f"DROP TRIGGER {name};" for name in names) + "UPDATE journal SET at = at + 3600000")
    return installation.doctor()


def busy_port(installation, _):
    with socket.create_server(("127.0.0.1", 0)) as other:
        installation.write(SETTINGS.replace("port: 0", f"port: {other.getsockname()[1]}"))
        return installation.doctor()


def broken_webhook(installation, _):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_error(500)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hook = (f"webhooks: [{{ url: 'http://127.0.0.1:{server.server_port}/', secrets: [{HOOK}], "
            "allow_hosts: [127.0.0.1] }], ")
    installation.write(SETTINGS.replace("bundle_ids", hook + "bundle_ids"))
    found = installation.doctor()
    server.shutdown()
    return found


def full_disk(installation, folder):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True).returncode:
        print("a full disk is left out: only root can mount a small file system", file=sys.stderr)
        return None
    try:
        shutil.copy(installation.path("assay.sqlite"), disk)
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        with open(os.path.join(disk, "other"), "wb") as file:
            file.write(bytes(free - (600 << 10)))
        return installation.doctor("--database", f"sqlite:{disk}/assay.sqlite")
    finally:
        subprocess.run(["umount", "-l", disk])


def no_checkpoint(installation, _):
    installation.grant("bob")
    yesterday = datetime.datetime.now().timestamp() - 2 * 86_400
    os.utime(installation.path("published"), (yesterday, yesterday))
    return installation.doctor()


def no_fsync(installation, _):
    database = PostgreSQL()
    url = f"postgres:///assay?host={database.folder}&port={database.port}&user=assay"
    subprocess.run([f"{database.programs}/psql", *database.place, "-qc", "ALTER SYSTEM SET fsync = off", "assay"],
                   check=True)
    subprocess.run([f"{database.programs}/psql", *database.place, "-qc", "SELECT pg_reload_conf()", "assay"],
                   check=True, capture_output=True)
    installation.run("migrate", "--database", url, check=True)
    return installation.doctor("--database", url)


CASES = [
    ("the database is read-only", "database_writes", read_only),
    ("an older schema", "database_schema", older_schema),
    ("keys with the mode 0644", "keys", open_key),
    ("an anchor that expired yesterday", "certificates", expired_anchor),
    ("the machine's clock is an hour behind", "clock", wrong_clock),
    ("another program has the port", "listening", busy_port),
    ("a webhook answers 500", "webhooks", broken_webhook),
    ("the disk is 99 % full", "database_space", full_disk),
    ("no checkpoint for two days", "checkpoints", no_checkpoint),
    ("PostgreSQL without fsync", "database_durability", no_fsync),
]


def main():
    program = os.path.abspath(sys.argv[1])
    missed = []
    print("| broken | `assay doctor` says | to do |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="assay-doctor-") as folder:
        whole = os.path.join(folder, "whole")
        os.mkdir(whole)
        Installation(program, whole).make()
        sound, status = Installation(program, whole).doctor()
        if status != 0:
            raise SystemExit(f"the sound installation fails: {sound}")
        for number, (name, check, break_it) in enumerate(CASES):
            place = os.path.join(folder, str(number))
            shutil.copytree(whole, place)
            found = break_it(Installation(program, place), folder)
            if found is None:
                continue
            findings, status = found
            meant = [finding for finding in findings if finding["check"] == check and finding["state"] == "failed"]
            if status != 1 or not meant:
                missed.append((name, status, findings))
                continue
            texts = {part: meant[0][part].replace(place + "/", "").replace(folder, "…").replace("|", "\\|")
                     for part in ("found", "action")}
            print(f"| {name} | `{check}` failed: {texts['found']} | {texts['action']} |")
    if missed:
        raise SystemExit(f"not failed: {missed}")


if __name__ == "__main__":
    main()
