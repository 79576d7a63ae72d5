"""A purchase server under load for the Python scripts in this folder: its settings, its evidence, and clients that send it."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time

from running_server import RunningServer

SETTINGS = """
server: {{ trust: [{trust}] }}
limits:
  per_key: {{ per_second: 1000000, burst: 1000000 }}
  per_address: {{ per_second: 1000000, burst: 1000000 }}
apps:
  example:
    bundle_ids: [com.example.app]
    environments: [Production, Sandbox]
    sandbox_access: everyone
    products:
      com.example.app.coins: {{ kind: consumable }}
"""


class PurchaseServer:
    """`assay serve` with a database in a folder, and the requests that a benchmark's `--export` wrote.

    `more` is appended to the settings of the app. `url` names another database than a file in the folder.
    """

    def __init__(self, program, evidence, folder, more="", url=None):
        self.program = program
        self.folder = folder
        self.database = os.path.join(folder, "assay.sqlite")
        self.url = url or f"sqlite:{self.database}"
        self.settings = os.path.join(folder, "assay.yaml")
        roots = [os.path.join(os.path.abspath(evidence), name) for name in ("receipts.der", "payloads.der")]
        with open(self.settings, "w") as file:
            file.write(SETTINGS.format(trust=", ".join(roots)) + more)
        created = self.run("keys", "create", "--app", "example", "--scope", "client", "--database", self.url)
        self.key = re.search(r"assay_\S+", created).group(0)
        self.server = None

    def run(self, *arguments):
        """Runs a command of the program and returns what it printed."""
        return subprocess.run(
            [self.program, *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def wait_for_webhook(self):
        """Waits until a running server has seen the webhook of the settings. It begins with the events after that."""
        for _ in range(600):
            if "cursor" in self.run("webhooks", "list", "--app", "example", "--database", self.url):
                return
            time.sleep(0.1)
        raise SystemExit("no server has registered the webhook")

    def check_record(self, *commands):
        """Runs commands that check the record, prints what each says, and ends this process if one finds something."""
        for command in commands:
            check = subprocess.run(
                [self.program, *command, "--config", self.settings, "--database", self.url], cwd=self.folder,
                capture_output=True, text=True)
            lines = check.stdout.strip().splitlines()[-1:] or check.stderr.strip()
            print(f"{' '.join(command)}: exit {check.returncode}: {lines}")
            if check.returncode != 0:
                print(check.stdout, check.stderr, file=sys.stderr)
                raise SystemExit(f"{' '.join(command)} found something")

    def start(self, log_level="error"):
        self.server = self.start_another(log_level)
        return self.server

    def start_another(self, log_level="error"):
        """Starts one more server over the same database."""
        return RunningServer(
            [self.program, "serve", "--config", self.settings, "--database", self.url, "--port", "0", "--log-level",
             log_level], self.folder)

    @property
    def identifier(self):
        return self.server.process.pid


def requests(path):
    """The requests of a file, each with the transaction that it claims."""
    with open(path, "rb") as file:
        for line in file:
            yield re.search(rb'"transaction_id":"(\d+)"', line).group(1).decode(), line.rstrip(b"\n")


def purchase_head(key):
    """The head of a request for a purchase, up to the number of bytes of its body."""
    return (
        f"POST /v1/purchases HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nContent-Length: ").encode()


async def read_answer(reader):
    """The status, the head and the content of an answer as JSON."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))
    return int(head[9:12]), head, json.loads(await reader.readexactly(length))


async def send_all(server, work, connections, on_answer):
    """Sends what `work` yields over some connections until it ends or the server does.

    `on_answer` is called with the transaction, the status and the answer as JSON. Returns the transactions without an answer.
    """
    lost = []

    async def client():
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.server.port)
        except OSError:
            return
        head = purchase_head(server.key)
        for transaction, body in work:
            try:
                writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
                await writer.drain()
                status, _, content = await read_answer(reader)
            except (OSError, asyncio.IncompleteReadError):
                lost.append(transaction)
                break
            on_answer(transaction, status, content)
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    return lost
