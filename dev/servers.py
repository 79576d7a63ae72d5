"""What scripts share: servers and databases that they start, requests that they send, and servers that answer."""
import atexit
import base64
import email.utils
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

DEV = pathlib.Path(__file__).resolve().parent
BUNDLE = "com.example.app"
COINS = "com.example.app.coins"
CLUB = "com.example.app.club"


def with_packages(name, *requirements, is_needed=True):
    """Runs the script again in a virtual environment with packages of PyPI, which is made once, unless it already runs there. False if they
    are not needed and cannot be installed."""
    folder = DEV.parent / f".build-{name}"
    if pathlib.Path(sys.prefix) != folder:
        made = subprocess.run(["sh", "-c", 'set -eu; . dev/lib.sh; python_tools "$@"', "sh", name, *requirements], cwd=DEV.parent, stdout=subprocess.DEVNULL)
        if not made.returncode:
            os.execv(folder / "bin/python", [str(folder / "bin/python"), *sys.argv])
        reason = f"PyPI's {', '.join(requirements)} cannot be installed; it needs python3 with venv"
        if is_needed:
            raise SystemExit(reason)
        print(f"skipped: {reason}", file=sys.stderr, flush=True)
        return False
    return True


def find_program():
    """Makes `assay` a command: that in the folder which ASSAY_BIN names, or the optimised build."""
    os.environ["PATH"] = os.path.abspath(os.environ.pop("ASSAY_BIN", DEV.parent / ".build/release")) + os.pathsep + os.environ["PATH"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class ServerFailed(Exception):
    """The server did not start. The text contains its output."""


class RunningServer:
    """A program that prints its address on a line of its own when it is ready."""

    def __init__(self, arguments, folder, **variables):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env=os.environ | variables)
        # Also when the script fails.
        atexit.register(self.process.kill)
        self.ready = self.process.stdout.readline().strip()
        found = re.search(r"(http://[^/ ]+:(\d+))", self.ready)
        if not found:
            self.stop()
            self.errors.seek(0)
            raise ServerFailed(f"{arguments[1]} did not start: {self.ready} {self.errors.read()}")
        self.address, self.port = found.group(1), int(found.group(2))

    def stop(self, at_once=False):
        """Ends it, and returns its exit status. Kills it at once if it may be too busy to stop."""
        self.process.kill() if at_once else self.process.terminate()
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def resident(self):
        """Resident memory in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def processor_seconds(process):
    """The processor time of all threads of a process so far: its clock, as clock_getcpuclockid(3) names it."""
    return time.clock_gettime((~process << 3) | 2)


def wait_until(condition, reason, seconds=60):
    """Waits until a condition is true, and ends the scenario with a reason if it does not become so."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"{reason} within {seconds} s")
        time.sleep(0.02)


def mint(program, folder, *words):
    """What `assay mint` prints."""
    return subprocess.run([program, "mint", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def ask(address, path, body=None, key=None, method=None, **heads):
    """The status and the JSON of an answer. Each request has an Idempotency-Key of its own; a further head is named with _ for -."""
    heads = {"Content_Type": "application/json", "Idempotency_Key": os.urandom(16).hex()} | ({"Authorization": f"Bearer {key}"} if key else {}) | heads
    request = urllib.request.Request(address + path, None if body is None else json.dumps(body).encode(),
                                     {name.replace("_", "-"): value for name, value in heads.items()}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


class Store(RunningServer):
    """A simulated App Store."""

    def __init__(self, program, folder, *options):
        super().__init__([program, "simulate", "--port", "0", "--log-level", "error", *options], folder)
        self.trust = os.path.join(folder, "assay-authority", "trust.pem")

    def control(self, path, body=None, method=None):
        status, answer = ask(self.address, f"/control/{path}", body, method=method)
        if status >= 300:
            raise SystemExit(f"the store answers {path} with {status}: {answer}")
        return answer

    def buy(self, product, customer, **more):
        """The answer of a purchase: its transaction and evidence."""
        return self.control("purchases", {"bundle_id": BUNDLE, "product_id": product, "customer_id": customer} | more)

    def sell(self, *products):
        """Puts products up for sale: names, and whether they are subscriptions of a month."""
        self.control("apps", {"bundle_id": BUNDLE})
        for product, is_subscription in products:
            terms = {"kind": "auto-renewable", "subscription": {"group_id": "club", "period": "P1M"}}
            self.control("products", {"bundle_id": BUNDLE, "product_id": product, "kind": "consumable"} | (terms if is_subscription else {}))

    def notification(self, number):
        """The signed notification of an event; None if the event has none, False if there is no such event."""
        status, answer = ask(self.address, f"/control/events/{number}/notification")
        return answer["signed_payload"] if status == 200 else answer.get("code") != "unknown_event" and None


class SQLite:
    """A file in a folder."""

    def __init__(self, folder, name="assay.sqlite"):
        self.path = os.path.join(folder, name)
        self.url = f"sqlite:{self.path}"

    def rows(self, *queries):
        """The rows of queries of one committed state, as texts."""
        with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60) as connection:
            connection.execute("BEGIN")
            return [[[str(value) for value in row] for row in connection.execute(query)] for query in queries]

    def processor_seconds(self):
        return 0

    def bytes(self):
        with sqlite3.connect(self.path, timeout=60) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return os.path.getsize(self.path)


class PostgreSQL:
    """A throwaway PostgreSQL, which ends with this process."""

    def __init__(self, *settings):
        lines = subprocess.run([DEV / "throwaway-postgres.sh", str(os.getpid()), *settings], check=True, capture_output=True,
                               text=True).stdout.split("\n")
        self.folder, self.port, self.programs = lines[0], int(lines[1]), lines[2]
        self.place = ["-h", self.folder, "-p", str(self.port), "-U", "assay"]
        subprocess.run([f"{self.programs}/createdb", *self.place, "--template", "template0", "assay"], check=True)
        self.url = f"postgres:///assay?host={self.folder}&port={self.port}&user=assay"

    def control(self, *arguments):
        subprocess.run([f"{self.folder}/control", *arguments], check=True, capture_output=True)

    def processes(self):
        """The postmaster, and the processes of its connections."""
        master = int(pathlib.Path(self.folder, "data/postmaster.pid").read_text().split()[0])
        return [master, *map(int, pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split())]

    def processor_seconds(self):
        """The processor time of all processes, those that ended included."""
        processes = self.processes()
        ended = pathlib.Path(f"/proc/{processes[0]}/stat").read_text().rpartition(")")[2].split()
        return sum(map(processor_seconds, processes)) + (int(ended[13]) + int(ended[14])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        for process in self.processes():
            os.kill(process, number)

    def strike(self, what):
        """Ends the server, and starts it again."""
        if what == "restart":
            return self.control("restart", "-m", "fast")
        if what == "crash":
            self.control("stop", "-m", "immediate")
        else:
            os.kill(self.processes()[0], signal.SIGKILL)
        for attempt in range(100):
            # The processes of the killed one notice it, and the next one waits for them.
            try:
                return self.control("start")
            except subprocess.CalledProcessError:
                if attempt == 99:
                    raise

    def sql(self, text):
        return subprocess.run([f"{self.programs}/psql", *self.place, "-qAt", "-F", " ", "-v", "ON_ERROR_STOP=1", "assay"], input=text,
                              check=True, capture_output=True, text=True).stdout

    def rows(self, *queries):
        output = self.sql("BEGIN ISOLATION LEVEL REPEATABLE READ;\n" + "".join(f"{query};\n\\echo ---\n" for query in queries))
        return [[line.split(" ") for line in part.strip().split("\n") if line] for part in output.split("---\n")[:-1]]

    def bytes(self):
        return int(self.sql("VACUUM; SELECT pg_database_size('assay')"))


SETTINGS = """\
server: {{ trust: [{trust}]{server} }}
limits: {limits}
apps:
  example:
    bundle_ids: [com.example.app]
    environments: [Production, Sandbox]
    sandbox_access: everyone
    products:
      com.example.app.coins: {{ kind: consumable }}
      com.example.app.club: {{ kind: auto_renewable }}
{more}"""
UNLIMITED = "{ per_key: { per_second: 1000000, burst: 1000000 }, per_address: { per_second: 1000000, burst: 1000000 } }"


class World:
    """Servers of the program over one database, with settings in a folder: those above, where `more` is appended to those of the app, or
    `settings` of the caller."""

    def __init__(self, program, folder, trust="", database=None, more="", limits=UNLIMITED, server="", scope="client", settings=None, app="example"):
        self.program, self.folder, self.database, self.app = program, folder, database or SQLite(folder), app
        text = settings or SETTINGS.format(trust=trust, more=more, limits=limits, server=server)
        pathlib.Path(folder, "assay.yaml").write_text(text)
        self.key = self.new_key(scope)
        self.servers = []

    def new_key(self, scope):
        return re.search(r"assay_\S+", self.run("keys", "create", "--app", self.app, "--scope", scope)).group()

    def command(self, *arguments):
        return [self.program, *arguments, "--config", "assay.yaml", "--database", self.database.url]

    def run(self, *arguments, may_fail=False):
        """Runs a command of the program over the database, and returns what it printed; with its errors, if it may fail."""
        run = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True)
        if run.returncode and not may_fail:
            raise SystemExit(f"{' '.join(arguments)}: exit {run.returncode}: {run.stdout[-2000:]} {run.stderr[-2000:]}")
        return run.stdout + (run.stderr if may_fail else "")

    def start(self, log_level="error", port=0, before=(), **variables):
        """Starts one more server, by a program that runs it if there are words before it, with variables of its environment."""
        command = self.command("serve", "--port", str(port), "--log-level", log_level)
        self.servers.append(RunningServer([*before, *command], self.folder, **variables))
        return self.servers[-1]

    def stop(self, at_once=False):
        """Stops all servers, and returns the greatest exit status."""
        status = max((server.stop(at_once) for server in self.servers), default=0)
        self.servers = []
        return status

    def wait_for_webhook(self):
        """Waits until a server has seen the webhook of the settings. It begins with the events after that."""
        wait_until(lambda: "cursor" in self.run("list", "webhooks", "--app", self.app), "no server has registered the webhook")

    def check_record(self, *commands):
        """Runs commands that check the record, and prints what each says."""
        for command in commands or (["audit", "verify"],):
            print(f"{' '.join(command)}: {self.run(*command).strip().splitlines()[-1:]}", flush=True)


def write_secret(path, content):
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)


SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()


class LocalServer(http.server.ThreadingHTTPServer):
    """Answers requests on a free port: `answer` gets the path, the heads and the body of each, and returns a status and a value of JSON, or
    None for no content. Its clock is so many seconds behind."""

    daemon_threads = True
    # A killed server breaks its connections.
    handle_error = lambda *_: None

    def __init__(self, answer, behind=0):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, log_message = "HTTP/1.1", lambda *_: None

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(time.time() - behind, usegmt=True)

            def do_GET(self):
                status, value = answer(self.path, self.headers, self.rfile.read(int(self.headers["content-length"] or 0)))
                content = b"" if value is None else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET

        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class WebhookReceiver:
    """Answers webhooks with 200, and records their messages in the order of arrival. `hook` are its settings."""

    def __init__(self):
        self.arrivals, self.ids = [], set()

        def answer(_, heads, body):
            self.arrivals.append((json.loads(body).get("customer_id"), heads["webhook-id"]))
            self.ids.add(heads["webhook-id"])
            return 200, None

        self.server = LocalServer(answer)
        self.hook = f"{{ url: '{self.server.address}/', secrets: [{SECRET}], allow_hosts: [127.0.0.1] }}"

    def wait(self, expected, limit):
        """Waits until every one of the expected messages has arrived, and checks that those of a customer came in their order."""
        wait_until(lambda: expected <= self.ids, f"not all of {len(expected)} events arrived", limit)
        first, last = dict.fromkeys(self.arrivals), {}
        for customer, identifier in first:
            number = int(identifier.rsplit("_", 1)[1])
            if number < last.get(customer, 0):
                raise SystemExit(f"the events of {customer} arrived in another order")
            last[customer] = number
