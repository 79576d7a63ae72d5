"""Python clients of verifyReceipt from PyPI, inapppy and itunes-iap, unmodified but for the address."""
import inapppy
import itunesiap
import itunesiap.request


def both(address, evidence):
    """The answers of both clients to a receipt, or to a signed transaction in its place."""
    production, sandbox = address + "/verifyReceipt", address + "/sandbox/verifyReceipt"

    class Validator(inapppy.AppStoreValidator):
        def _change_url_by_sandbox(self):
            self.url = sandbox if self.sandbox else production

    itunesiap.request.RequestBase.PRODUCTION_VALIDATION_URL = production
    itunesiap.request.RequestBase.SANDBOX_VALIDATION_URL = sandbox
    answer = Validator(auto_retry_wrong_env_request=True).validate(evidence, "")
    response = itunesiap.verify(evidence, env=itunesiap.env.review)
    assert answer["status"] == 0 and response.status == 0, answer
    return answer, response


def receipts(address, texts):
    """Both clients accept every receipt, and get the same values for the same purchase."""
    for text in texts:
        answer, response = both(address, text)
        purchases = answer["receipt"]["in_app"]
        assert len(response.receipt.in_app) == len(purchases)
        for ours, theirs in zip(purchases, response.receipt.in_app):
            assert ours["transaction_id"] == str(theirs.transaction_id) and theirs.purchase_date is not None
        print(f"  accepted: {len(purchases)} purchases, {response.receipt.bundle_id}, {response.receipt.receipt_creation_date}")


def signed_transactions(address, pairs):
    """The signed transaction of a purchase, sent in the place of a receipt, has the keys that the receipt has for it."""
    for receipt, signed in pairs:
        (answer, response), (whole, _) = both(address, signed), both(address, receipt)
        (entry,), (theirs,) = answer["receipt"]["in_app"], response.receipt.in_app
        same = next(one for one in whole["receipt"]["in_app"] if one["transaction_id"] == entry["transaction_id"])
        assert entry == same, (entry, same)
        assert str(theirs.transaction_id) == same["transaction_id"] and theirs.product_id == same["product_id"]
        info = {one["transaction_id"]: one for one in answer["latest_receipt_info"]}
        assert info[entry["transaction_id"]].items() >= same.items() and "latest_receipt" not in answer
        for key, value in answer["receipt"].items():
            assert key == "in_app" or key.startswith(("request_date", "receipt_creation_date")) or value == whole["receipt"][key], key
        missing = sorted(set(whole["receipt"]) - set(answer["receipt"])) + sorted(set(whole) - set(answer))
        print(f"  accepted: the signed transaction {entry['transaction_id']}: {len(entry)} keys as in the receipt; not stated: {' '.join(missing)}")
