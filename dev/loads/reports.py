"""Six public reports of this trade, replayed on a running server: what each would meet, and whether the server has it right."""
import base64
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.parse

from loads.evidence import HOUR, NOW, Mint
from servers import BUNDLE, CLUB, LocalServer, World, ask, free_port, mint, wait_until, write_secret

AHEAD = 30
SECRET = "0123456789abcdef0123456789abcdef"
ERROR = {"errorCode": 4040010, "errorMessage": "Transaction id not found."}


class AppStore(LocalServer):
    """Apple's servers with a clock that is behind, which refuse a token from the future, as Apple does."""

    def __init__(self):
        super().__init__(self.reply, AHEAD)
        self.answers, self.refused, self.asked = {}, 0, []

    def reply(self, path, heads, body):
        self.asked.append(path)
        if body:
            return 200, self.answers.get(path, {"notificationHistory": [], "hasMore": False})
        part = heads.get("Authorization", "..").split(".")[1]
        if json.loads(base64.urlsafe_b64decode(part + "=="))["iat"] > time.time() - AHEAD:
            self.refused += 1
            return 401, {}
        found = self.answers.get(urllib.parse.urlsplit(path).path)
        return 200 if found else 404, found or ERROR


class Reports:
    def __init__(self, program, folder):
        self.folder, self.mint, self.store = folder, Mint(program, folder), AppStore()
        write_secret(f"{folder}/AuthKey.p8", subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], check=True, capture_output=True).stdout)
        port = free_port()
        # assay doctor asks the server that runs at the port of the settings.
        self.world = World(program, folder, self.mint.trust, server=f", port: {port}, admin: {folder}/admin.sock", more=f"""\
      com.example.app.pro: {{ kind: auto_renewable }}
    mode: both
    shared_secret: {SECRET}
    app_store_keys: [{{ issuer_id: 57246542-96fe-1a63-e053-0824d011072a, key_id: 2X9R4HXF34, private_key_file: AuthKey.p8 }}]
app_store: {{ server_api_production: {self.store.address}, server_api_sandbox: {self.store.address}/none,
  verify_receipt_production: {self.store.address}/verifyReceipt, verify_receipt_sandbox: {self.store.address}/none/verifyReceipt }}
""")
        self.backend = self.world.new_key("backend")
        self.server = self.world.start(port=port)

    # What every report needs

    def period(self, number, copy=0, days=30.0, ago=1.0, **more):
        """A period of a subscription: a copy has another id and the same line item."""
        first = self.mint.transaction(number, CLUB)
        start = NOW - int(ago * 24 * HOUR)
        return first | {
            "transactionId": f"{int(first['transactionId']) + copy}", "environment": "Production", "purchaseDate": start,
            "originalPurchaseDate": start, "signedDate": NOW, "expiresDate": start + int(days * 24 * HOUR),
            "webOrderLineItemId": f"{100_000 + number}"} | more

    def order(self, customer):
        return ask(self.server.address, "/v1/orders", {"customer_id": customer, "product_id": CLUB}, self.backend, Idempotency_Key=customer)[1]

    def claim(self, transaction, customer, order=None, receipt=None):
        body = {"receipt_data": receipt or self.mint.sign(transaction).decode(), "product_id": transaction["productId"],
                "transaction_id": transaction["transactionId"], "customer_id": customer}
        return ask(self.server.address, "/v1/purchases", body | ({"order_id": order["order_id"]} if order else {}), self.world.key)

    def notify(self, body):
        return ask(self.server.address, "/notifications/v2", json.loads(body))

    def access(self, customer):
        _, answer = ask(self.server.address, f"/v1/customers/{customer}/entitlements", key=self.backend)
        return {each["product_id"]: each for each in answer["entitlements"]}

    def events(self, kind):
        return [each for each in ask(self.server.address, "/v1/events?limit=200", key=self.backend)[1]["events"] if each["type"] == kind]

    # The reports, each of which returns what it saw and whether that is right

    def two_numbers(self):
        """A notification names the purchase by a second number, and the device claims the first one for its order."""
        created = NOW + 2 * HOUR // 60
        order, start = self.order("ann"), int(time.time() * 1000)
        first = self.period(1, purchaseDate=start, originalPurchaseDate=start, signedDate=start, expiresDate=start + 720 * HOUR)
        second = first | {"transactionId": f"{int(first['transactionId']) + 1}"}
        told, _ = self.notify(self.mint.notification("SUBSCRIBED", second | {"signedDate": created}))
        status, answer = self.claim(first, "ann", order)
        _, paid = ask(self.server.address, f"/v1/orders/{order['order_id']}", key=self.backend)
        seen = f"notification {told}, claim {status} {answer.get('code', answer.get('disposition'))}, order {paid['status']}"
        return seen, status == 200 and paid["status"] == "paid"

    def imported_copy(self):
        """An old system kept the number of a restored copy, which no history lists."""
        copy = self.period(2, copy=3)
        signed = self.mint.sign(self.period(2)).decode()
        history = {"signedTransactions": [signed], "hasMore": False, "revision": "1", "bundleId": BUNDLE, "environment": "Production"}
        self.store.answers |= {f"/inApps/v1/transactions/{copy['transactionId']}": {"signedTransactionInfo": self.mint.sign(copy).decode()},
                               f"/inApps/v2/history/{copy['transactionId']}": history}
        status = {"originalTransactionId": copy["originalTransactionId"], "status": 1, "signedTransactionInfo": signed}
        self.store.answers[f"/inApps/v1/subscriptions/{copy['originalTransactionId']}"] = {
            "environment": "Production", "bundleId": BUNDLE,
            "data": [{"subscriptionGroupIdentifier": "club", "lastTransactions": [status]}]}
        text = self.imported("bob", copy)
        return text.strip().splitlines()[0], "restored copy" in text and self.access("bob").get(CLUB, {}).get("state") in ("active", "in_grace")

    def imported(self, customer, transaction):
        path = pathlib.Path(self.folder, f"{customer}.csv")
        path.write_text(f"customer_id,transaction_id\n{customer},{transaction['transactionId']}\n")
        return self.world.run("import", "--app", "example", "--consumables", "delivered", path.name, may_fail=True)

    def clock(self):
        """This machine's clock is ahead of Apple's, as in the calls of the import before."""
        told = self.world.run("doctor", "--no-deliveries", may_fail=True)
        line = next((line.strip() for line in told.splitlines() if "clock" in line and "App Store" in line), "no line about the clock")
        return f"{self.store.refused} of {len(self.store.asked)} calls refused; doctor: {line}", self.store.refused == 0 and "ahead" in line

    def upgrade(self):
        """verifyReceipt tells an upgrade with a cancellation date."""
        start, end = NOW - 24 * HOUR, NOW + 29 * 24 * HOUR
        stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at / 1000))
        purchase = f"product={CLUB},kind=subscription,transaction=3000001,original=3000001,purchased={stamp(start)},expires={stamp(end)}"
        receipt = mint(self.world.program, self.folder, "--authority", "authority", "--kind", "production", "--purchase", purchase)
        _, reply = ask(self.server.address, "/verifyReceipt", {"receipt-data": receipt, "password": SECRET})
        upgrade = {"is_upgraded": "true", "cancellation_date_ms": f"{NOW // 1000 * 1000}"}
        self.store.answers["/verifyReceipt"] = reply | {"latest_receipt_info": [reply["receipt"]["in_app"][0] | upgrade]}
        status, answer = self.claim({"productId": CLUB, "transactionId": "3000001"}, "cyd", receipt=receipt)
        wait_until(lambda: self.access("cyd").get(CLUB, {}).get("reason") == "upgraded", "the upgrade is not told", 10)
        found = self.access("cyd").get(CLUB, {})
        revoked = [each for each in self.events("revoked") if each.get("customer_id") == "cyd"]
        return f"claim {status}, then {found.get('state')} {found.get('reason')}, {len(revoked)} events revoked", found.get("reason") == "upgraded" and not revoked

    def grace(self):
        """A grace period without its end: the status says that there is one."""
        late = self.period(4, days=30, ago=30.1)
        renewal = {"originalTransactionId": late["originalTransactionId"], "autoRenewProductId": CLUB, "productId": CLUB, "autoRenewStatus": 1,
                   "isInBillingRetryPeriod": True, "signedDate": NOW, "environment": "Production"}
        self.claim(late, "dan")
        before = self.access("dan").get(CLUB, {}).get("state")
        told, _ = self.notify(self.mint.notification("DID_FAIL_TO_RENEW", late, renewal, status=4, subtype="GRACE_PERIOD"))
        after = self.access("dan").get(CLUB, {})
        return (f"notification {told}, {before} before and {after.get('state')} afterwards, "
                f"grace_end_unknown {after.get('grace_end_unknown')}", after.get("state") in ("active", "in_grace") and after.get("grace_end_unknown") is True)

    def pages(self):
        """A history whose pages lead to themselves."""
        period = self.period(5)
        path = f"/inApps/v2/history/{period['transactionId']}"
        self.store.answers[path] = {"signedTransactions": [self.mint.sign(period).decode()], "hasMore": True, "revision": "same", "bundleId": BUNDLE,
                                    "environment": "Production"}
        begin = time.monotonic()
        text = self.imported("eve", period)
        calls = sum(asked.startswith(path) for asked in self.store.asked)
        return f"{calls} calls in {time.monotonic() - begin:.1f} s: {text.strip().splitlines()[0]}", calls < 10


def reports(options):
    """Exits 1 if one of the reports would be true of this server."""
    with tempfile.TemporaryDirectory(prefix="assay-reports-") as folder:
        world, wrong = Reports(options.program, folder), []
        try:
            for point, report in (("B.1", world.two_numbers), ("B.2", world.imported_copy), ("C.1", world.clock), ("C.2", world.upgrade),
                                  ("C.3", world.grace), ("C.4", world.pages)):
                seen, is_right = report()
                print(f"{'right' if is_right else 'WRONG'}  {point} {report.__doc__}\n       {seen}", flush=True)
                wrong += [] if is_right else [point]
            world.world.check_record()
        finally:
            world.world.stop()
            world.store.shutdown()
    if wrong:
        raise SystemExit(f"wrong: {', '.join(wrong)}")
