"""Buys coins with clients that are generated from openapi.yaml, in Python and in TypeScript; the latter needs java, node and tsc."""
import pathlib
import shutil
import subprocess
import sys
import uuid

HERE = pathlib.Path(__file__).resolve().parent
DESCRIPTION = HERE.parent.parent / "Server/Sources/PurchaseServer/Resources/openapi.yaml"


def run(*command, cwd=None):
    """What a command prints, which must succeed."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command[0]}: {done.stdout}"
    return done.stdout


def generated_python(folder, store, server, key):
    tools = pathlib.Path(sys.prefix, "bin")
    said = run(tools / "openapi-python-client", "generate", "--path", DESCRIPTION, "--meta", "none", "--output-path", f"{folder}/python/assay_client")
    assert "ERROR" not in said and "/v1" not in said, f"openapi-python-client leaves operations out: {said}"
    sys.path.insert(0, f"{folder}/python")
    from assay_client import AuthenticatedClient
    from assay_client.api.orders import create_order, fulfil_order
    from assay_client.api.purchases import list_entitlements, submit_purchase
    from assay_client.api.record import list_events
    from assay_client.models import EntitlementState, OrderRequest, Problem, PurchaseAnswer, PurchaseRequest
    client = AuthenticatedClient(base_url=server, token=key)
    refused = create_order.sync(client=client, body=OrderRequest(customer_id="", product_id="coins"), idempotency_key=uuid.uuid4().hex)
    assert isinstance(refused, Problem) and refused.code == "field_missing", refused
    wanted = OrderRequest(customer_id="production", product_id="coins", quantity=3)
    order = create_order.sync(client=client, body=wanted, idempotency_key=uuid.uuid4().hex)
    bought = store.buy("coins", "production", app_account_token=str(order.app_account_token), quantity=3)
    answer = submit_purchase.sync(client=client, body=PurchaseRequest(
        product_id="coins", transaction_id=bought["transaction"]["transaction_id"], order_id=str(order.order_id),
        signed_transaction=bought["evidence"]["signed_transaction"]))
    assert isinstance(answer, PurchaseAnswer) and answer.disposition == "granted", answer
    delivered = fulfil_order.sync(str(order.order_id), client=client)
    assert delivered.status == "fulfilled" and delivered.replayed is False, delivered
    entitlements = list_entitlements.sync("production", client=client)
    assert entitlements.entitlements[0].state == EntitlementState.CONSUMED, entitlements
    events = list_events.sync(client=client, order_id=str(order.order_id))
    types = [event.type_.value for event in events.events]
    assert types == ["order_created", "order_paid", "order_fulfilled"], types
    print(f"  accepted: the Python client bought {order.quantity} coins")


def generated_typescript(folder, store, server, key):
    packages = {"java": "default-jre-headless", "node": "nodejs", "tsc": "node-typescript"}
    if missing := [package for program, package in packages.items() if not shutil.which(program)]:
        run("sh", "-c", '. dev/lib.sh; install_packages "$@"', "sh", *missing, cwd=HERE.parent.parent)
    run(pathlib.Path(sys.prefix, "bin/openapi-generator-cli"), "generate", "-i", DESCRIPTION, "-g", "typescript-fetch", "-o", f"{folder}/typescript/client")
    shutil.copy(HERE / "generated_client.ts", f"{folder}/typescript")
    run("tsc", "--target", "es2020", "--module", "commonjs", "--lib", "es2020,dom", "--outDir", f"{folder}/javascript",
        f"{folder}/typescript/generated_client.ts")
    print("  accepted: " + run("node", f"{folder}/javascript/generated_client.js", server, key, store.address, "com.example.app").strip())
