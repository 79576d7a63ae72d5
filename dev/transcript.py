#!/usr/bin/env python3
"""Calls the API of the purchase server, and prints each request, as a command of curl, and its answer as Markdown: the last section of
docs/transcripts.md.

    dev/transcript.py [PROGRAM] > SECTION
"""
import json
import os
import re
import sys
import tempfile
import textwrap

from servers import World, ask, mint

SETTINGS = """apps:
  game:
    bundle_ids: com.example.app
    products:
      coins: { kind: consumable }
"""
HEAD = """## The API by hand

The requests that `dev/transcript.py` sent to `assay serve`, and the answers. `$ASSAY` is the address of the server;
`<coins.jws>` and `<more.jws>` stand for signed transactions over three coins each, which `assay mint` made. Of answers
like an earlier one, only some members are shown.

    $ cat assay.yaml"""
SIGNED = {"coins": "1,quantity=3", "more": "3,quantity=3", "forged": "2 --fault own-leaf"}


def claim(name, transaction, **more):
    return {"signed_transaction": f"<{name}.jws>", "product_id": "coins", "transaction_id": f"50000000000000{transaction}"} | more


CONSUME = ("backend", "POST", "/v1/customers/alice/consume", {"product_id": "coins", "quantity": 2, "consumption_id": "match-7"},
           "Idempotency-Key: match-7")
BUY, FULFIL = ("client", "POST", "/v1/purchases"), ("backend", "POST", "/v1/orders/<order>/fulfil")
# A sentence, and requests: the key, method, path, body and a head, and the members of the answer that are shown, or all.
STEPS = [
    ("The shop's backend creates an order:", [
        (("backend", "POST", "/v1/orders", {"customer_id": "alice", "product_id": "coins", "quantity": 3}, "Idempotency-Key: 4711"), "")]),
    ("After the purchase in the App Store, the app submits it for the order:", [((*BUY, claim("coins", "1", order_id="<order>")), "")]),
    ("The app received no answer and repeats the request. Nothing is granted twice:", [
        ((*BUY, claim("coins", "1", order_id="<order>")), "code disposition replayed")]),
    ("Another customer submits the same evidence:", [((*BUY, claim("coins", "1", customer_id="mallory")), "")]),
    ("A forged transaction, whose issuer did not sign its certificate:", [((*BUY, claim("forged", "2", customer_id="mallory")), "")]),
    ("The order is paid. The backend fulfils it, which takes the coins from the balance; only the first caller delivers:", [
        (FULFIL, "replayed status taken_units"), (FULFIL, "replayed status")]),
    ("Coins that no order bought stay in the balance until the backend consumes them:", [
        ((*BUY, claim("more", "3", customer_id="alice")), "code disposition entitlement"), (CONSUME, ""), (CONSUME, "balance replayed"),
        (("backend", "GET", "/v1/customers/alice/entitlements"), "")]),
    ("The record also contains refused submissions:", [(("backend", "GET", "/v1/submissions?verdict=rejected&limit=1"), "")]),
    ("The events list all changes in order, and the cursor from which to continue:", [(("backend", "GET", "/v1/events"), "")]),
]


def indented(text):
    print(textwrap.indent(text.strip("\n"), "    "))


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/release/assay")
    with tempfile.TemporaryDirectory(prefix="assay-transcript-") as folder:
        signed = {name: mint(program, folder, "--kind", "signed-transaction", "--environment", "Production", "--purchase",
                             *f"product=coins,transaction=50000000000000{rest}".split(" ")) for name, rest in SIGNED.items()}
        world = World(program, folder, settings="server: { trust: [assay-authority/trust.pem] }\n" + SETTINGS, app="game")
        keys, address, order = {"client": world.key, "backend": world.new_key("backend")}, world.start().address, "<order>"
        print(HEAD)
        indented(SETTINGS)
        for sentence, requests in STEPS:
            print(f"\n{sentence}\n")
            for (key, method, path, *more), members in requests:
                body, head = (*more, None, None)[:2]
                text, path = json.dumps(body, separators=(",", ":")).replace("<order>", order), path.replace("<order>", order)
                shown = f'curl -X {method} "$ASSAY{path}" -H "Authorization: Bearer $(cat {key}.key)"'
                shown += (f" -H '{head}'" if head else "") + (f" -d '{text}'" if body else "")
                sent = re.sub("<([a-z]+).jws>", lambda name: signed[name.group(1)], text)
                heads = {"Idempotency_Key": head.split(": ")[1]} if head else {}
                status, answer = ask(address, path, json.loads(sent), keys[key], method, **heads)
                order = answer.get("order_id", order) if path == "/v1/orders" else order
                answer = {name: answer[name] for name in members.split() or answer}
                for name, each in answer.items():
                    if isinstance(each, list) and len(each) > 2:
                        answer[name] = each[:2] + [f"… and {len(each) - 2} more"]
                indented(f"$ {shown}\nHTTP {status}\n{json.dumps(answer, indent=2, ensure_ascii=False)}")
        world.stop()
        print("\nAfter the server has stopped, the tables are computed again from the journal and compared:\n")
        indented("$ assay audit verify --trust assay-authority/trust.pem\n" + world.run("audit", "verify", "--trust", "assay-authority/trust.pem"))


main()
