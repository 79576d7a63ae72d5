#!/usr/bin/env python3
"""Runs unmodified clients of other projects, from PyPI, against the simulator and the server.

    dev/interop/main.py [PROGRAM]     .build/release/assay if none is named

inapppy and itunes-iap send verifyReceipt requests to the simulator and to the drop-in, Apple's app-store-server-library verifies signed
payloads of every kind, calls every method of the App Store Server API against the simulator, and signs offers, which are compared with
those of the server, stripe signs events of a shop, standardwebhooks verifies deliveries, and http-message-signatures the signed answers
to apps. openapi-python-client and openapi-generator-cli generate clients from openapi.yaml, which buy something. DuckDB reads the exports
of two simulated years.
"""
import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from recount import DUCKDB
from servers import BUNDLE, LocalServer, Store, World, ask, mint, wait_until, with_packages, write_secret

REQUIREMENTS = ["inapppy", "itunes-iap", "app-store-server-library[async]", "standardwebhooks", "http-message-signatures", "requests", "stripe",
                "openapi-python-client", "openapi-generator-cli", DUCKDB]
ISSUER, KEY_ID = "57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34"
PRODUCTS = "products: { gold: { kind: auto_renewable }, coins: { kind: consumable } }"
SETTINGS = {
    "drop-in": "",
    "webhooks": "    webhooks: [{ url: 'URL', secrets: ['env:WEBHOOK_SECRET'], allow_hosts: [127.0.0.1] }]\n",
    "answers": f"    {PRODUCTS}\n",
    "offers": f"    {PRODUCTS}\n    app_store_keys: [{{ issuer_id: {ISSUER}, key_id: {KEY_ID}, private_key_file: AuthKey.p8 }}]\n"
              "    offers: { promotional: { back: { products: [gold] } }, introductory: {}, advanced_commerce: {} }\n",
    "stripe": f"    {PRODUCTS}\n    grounds: {{ stripe: {{ secret_file: stripe.secret, products: {{ price_gold: gold }} }} }}\n",
}


class Parts:
    def __init__(self, program, folder):
        self.program, self.folder, self.authority = program, folder, f"{folder}/assay-authority"
        self.store = Store(program, folder, "--environment-names", "apple")
        self.servers = [self.store]
        self.store.sell(("coins", False), ("gold", True))
        self.bought = {}
        for environment in ("production", "sandbox"):
            self.store.control("customers", {"customer_id": environment, "environment": environment})
            self.store.buy("coins", environment)
            self.bought[environment] = self.store.buy("gold", environment)["evidence"]

    def serve(self, name, scope, hook=""):
        """A server with settings of its own in a folder of its own."""
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        if name == "offers":
            write_secret(f"{folder}/AuthKey.p8", subprocess.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], check=True, capture_output=True).stdout)
        if name == "stripe":
            write_secret(f"{folder}/stripe.secret", f"{self.shop_secret}\n".encode())
        answer_key = ", answer_key_file: answers.key" if name == "answers" else ""
        settings = f"server: {{ trust: [{self.store.trust}]{answer_key} }}\napps:\n  game:\n    bundle_ids: {BUNDLE}\n{SETTINGS[name]}"
        world = World(self.program, folder, settings=settings.replace("'URL'", f"'{hook}'"), app="game", scope=scope)
        if name == "answers":
            made = subprocess.run([self.program, "keys", "signing", "--for", "answers", "--config", "assay.yaml"], cwd=folder, check=True,
                                  capture_output=True, text=True).stdout
            self.public_key = re.search(r"^current (\S+)", made, re.M).group(1)
        self.servers.append(world.start("info"))
        return world

    def clients_of_verify_receipt(self):
        from receipts import receipts, signed_transactions
        texts = [each["app_receipt"] for each in self.bought.values()]
        receipts(self.store.address, texts)
        address = self.serve("drop-in", "client").servers[0].address
        receipts(address, texts)
        signed_transactions(address, [(each["app_receipt"], each["signed_transaction"]) for each in self.bought.values()])

    def two_years(self):
        run = subprocess.run([sys.executable, HERE.parent / "two_years.py", "--drop-in", "--check"], capture_output=True, text=True,
                             env=os.environ | {"ASSAY_BIN": os.path.dirname(self.program)})
        assert run.returncode == 0, run.stdout + run.stderr
        print("  accepted: " + run.stdout.splitlines()[-1])

    def signed_payloads(self):
        kinds = ("signed_transaction", "signed_renewal_info", "app_transaction")
        payloads = {f"{environment} {kind}": evidence[kind] for environment, evidence in self.bought.items() for kind in kinds}
        last = ask(self.store.address, "/control/events")[1]["events"][-1]["number"]
        payloads["notification"] = self.store.notification(last)
        cases = "".join(f"{name}\t{text.strip().encode().hex()}\n" for name, text in payloads.items())
        said = subprocess.run([sys.executable, HERE / "signed-data-verifier.py", f"{self.authority}/signed-data/root.der"],
                              input=cases, capture_output=True, text=True, check=True).stdout
        assert said.count("\taccepted\t") == len(payloads) == 7, said
        print(f"  accepted: {', '.join(payloads)}")

    def app_store_server_api(self):
        from server_api import server_api
        store = Store(self.program, self.folder, "--https-port", "0", "--environment-names", "apple",
                      "--allow-host", "api.storekit.apple.com", "--allow-host", "api.storekit-sandbox.apple.com")
        self.servers.append(store)
        line = store.ready
        while not (found := re.search(r"https://[^:]*:(\d+)", line)):
            line = store.process.stdout.readline()
        server_api(store, int(found.group(1)), self.authority)

    def webhooks(self):
        """A delivery whose body, id or time was changed must be refused."""
        from standardwebhooks.webhooks import Webhook, WebhookVerificationError
        secret, taken = "whsec_" + base64.b64encode(os.urandom(32)).decode(), []

        def is_accepted(body, heads):
            try:
                return bool(Webhook(secret).verify(body, heads))
            except WebhookVerificationError:
                return False

        def answer(_, heads, body):
            heads = {name: heads[f"webhook-{name}"] for name in ("id", "timestamp", "signature")}
            named = lambda **more: {f"webhook-{name}": value for name, value in (heads | more).items()}
            forged = ((body.replace(b'"type"', b'"kind"'), named()), (body, named(id=heads["id"] + "0")),
                      (body, named(timestamp=str(int(heads["timestamp"]) + 1))))
            taken.append(is_accepted(body, named()) and not any(is_accepted(*each) for each in forged))
            return 204, None

        os.environ["WEBHOOK_SECRET"] = secret
        world = self.serve("webhooks", "admin", hook=LocalServer(answer).address + "/hook")
        world.wait_for_webhook()
        for customer in ("alice", "bob", "alice"):
            status, order = ask(world.servers[0].address, "/v1/orders", {"customer_id": customer, "product_id": "coins"}, world.key)
            assert status == 201, order
        wait_until(lambda: len(taken) >= 3, "the deliveries did not come")
        assert all(taken), "standardwebhooks accepts other deliveries"
        world.servers[0].stop()
        world.servers[0].errors.seek(0)
        assert secret not in world.servers[0].errors.read(), "a secret is in the log"
        print(f"  accepted: {len(taken)} deliveries")

    def answers_and_generated_clients(self):
        from answers import answers
        from generated import generated_python, generated_typescript
        world = self.serve("answers", "admin")
        claim = mint(self.program, self.folder, "--kind", "signed-transaction", "--authority", self.authority, "--bundle-id", BUNDLE,
                     "--environment", "Production", "--purchase", "product=coins,kind=consumable,transaction=500000000000077")
        answers(world.servers[0].address, world.new_key("client"), self.public_key, claim)
        for buy in (generated_python, generated_typescript):
            buy(self.folder, self.store, world.servers[0].address, world.key)

    def offers(self):
        from offers import offers
        world = self.serve("offers", "backend")
        pem = pathlib.Path(world.folder, "AuthKey.p8").read_bytes()
        offers(world.servers[0].address, world.key, ISSUER, KEY_ID, pem)

    def shop(self):
        from shop import shop
        self.shop_secret = "whsec_" + os.urandom(16).hex()
        world = self.serve("stripe", "backend")
        shop(world.servers[0].address, world.key, self.shop_secret)


PARTS = [
    ("inapppy and itunes-iap, asking the simulator and the drop-in", Parts.clients_of_verify_receipt),
    ("inapppy and itunes-iap over two simulated years: the drop-in beside the store", Parts.two_years),
    ("app-store-server-library, over signed payloads of the simulator", Parts.signed_payloads),
    ("standardwebhooks, over deliveries of the server", Parts.webhooks),
    ("app-store-server-library, signing the offers that the server signs", Parts.offers),
    ("stripe, signing the events of a shop", Parts.shop),
    ("http-message-signatures over answers to apps, and clients that are generated from openapi.yaml", Parts.answers_and_generated_clients),
    ("app-store-server-library, calling the simulator's App Store Server API over TLS", Parts.app_store_server_api),
]


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/assay")
    with_packages("interop", *REQUIREMENTS)
    with tempfile.TemporaryDirectory(prefix="assay-interop-") as folder:
        parts = Parts(program, folder)
        try:
            for name, part in PARTS:
                print(name, flush=True)
                part(parts)
        finally:
            for server in parts.servers:
                server.stop()


if __name__ == "__main__":
    main()
