"""Reports of external purchases to a simulated store, while the server is killed."""
import base64
import json
import random
import sqlite3
import tempfile
import time

from servers import BUNDLE, Store, World, ask, wait_until, write_secret


def sale(number):
    return {"lineItemId": f"sale-{number}", "creationDate": 1, "eventType": "BUY", "productType": "ONE_TIME_BUY", "quantity": 1,
            "productIdentifier": "coins", "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP",
            "amountTaxExclusive": number, "taxAmount": 0, "amountTaxInclusive": number, "netAmountTaxExclusive": number}


def external(options):
    """A backend states sales; the server is killed at random moments, most often between a report and its record, because each answer of
    the store is late. At the end the store must have each sale once, each under the identifier that the server stored first."""
    choose = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="assay-external-") as folder:
        store = Store(options.program, folder)
        store.control("apps", {"bundle_id": BUNDLE})
        key = store.control("api-keys", {})
        write_secret(f"{folder}/AuthKey.p8", key["private_key"].encode())
        world = World(options.program, folder, store.trust, scope="backend", more=f"""\
    app_store_keys: [{{ issuer_id: {key['issuer_id']}, key_id: {key['key_id']}, private_key_file: AuthKey.p8 }}]
app_store: {{ server_api_production: {store.address}, server_api_sandbox: {store.address}/sandbox }}
""")
        late = {"kind": "latency", "operation": "send-external-report", "count": 1_000_000, "milliseconds": 300}
        store.control("faults/server-api", late)
        expected = set()

        def reports():
            return [json.loads(one) for token in store.control("external-reports").values() for one in token["reports"].values()]

        for turn in range(options.rounds):
            server = world.start()
            # Two tokens of the round, and one more sale of an earlier token.
            for number, of in ((3 * turn, turn), (3 * turn + 1, -1), (3 * turn + 2, choose.randrange(turn + 1))):
                token = f"token-{of}" if of >= 0 else f"other-{turn}"
                stated = {"bundleId": BUNDLE, "externalPurchaseId": token, "tokenCreationDate": int(time.time() * 1000)}
                text = base64.urlsafe_b64encode(json.dumps(stated).encode()).decode()
                ask(server.address, "/v1/external-purchases", {"token": text}, world.key)
                path = f"/v1/external-purchases/{token}/line-items"
                status, answer = ask(server.address, path, {"line_items": [sale(number)]}, world.key)
                assert status in (200, 201), (status, answer)
                expected.add(f"sale-{number}")
            time.sleep(choose.uniform(0, 0.8))
            server.stop(at_once=True)
            # The lease of a killed server lasts ten minutes.
            with sqlite3.connect(world.database.path) as database:
                database.execute("UPDATE work SET leased_until = NULL")
        known, server = len(reports()), world.start()

        def settled():
            tokens = ask(server.address, "/v1/external-purchases?limit=200", key=world.key)[1]["external_purchases"]
            return all(token["state"] == "reported" for token in tokens)

        wait_until(settled, "not every token was reported", 300)
        sent = [item["lineItemId"] for report in reports() for item in report["lineItems"]]
        world.stop()
        world.check_record(["audit", "verify"])
        print(f"{options.rounds} kills: {len(expected)} sales, {known} reports at the store after the last kill and {len(reports())} at the end, "
              f"{len(sent) - len(set(sent))} sales twice, {len(expected - set(sent))} missing")
        assert sorted(sent) == sorted(expected)
