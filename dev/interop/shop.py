"""Events of a shop that the library of Stripe builds and signs, sent to the server.

The server must accept what the library accepts, except signatures of the future, and refuse what it refuses. The objects are built by the
library's classes, so that the names of their fields are Stripe's.
"""
import json
import time
import urllib.error
import urllib.request

import stripe

from servers import ask

PERIOD = 4102444800


def event(number, status, items_have_ends=True):
    """An event about a subscription, in the form of the present versions, or of those before 2025-03-31."""
    end = {"current_period_end": PERIOD}
    item = {"id": "si_1", "object": "subscription_item", "price": {"id": "price_gold", "object": "price"}} | (end if items_have_ends else {})
    subscription = {"id": "sub_1", "object": "subscription", "status": status, "cancel_at": None, "cancel_at_period_end": True,
                    "metadata": {"assay_customer": "alice"}, "items": {"object": "list", "data": [item], "has_more": False}}
    kind = "deleted" if status == "canceled" else "updated"
    return json.dumps({"id": f"evt_{number}", "object": "event", "api_version": stripe.api_version, "created": 1700000000 + number, "livemode": True,
                       "type": f"customer.subscription.{kind}", "data": {"object": subscription | ({} if items_have_ends else end)}})


def post(address, body, header):
    request = urllib.request.Request(f"{address}/stripe/game", body.encode(), {"Stripe-Signature": header} if header else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())["result"]
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["code"]


def is_accepted(body, header, secret):
    try:
        return bool(stripe.Webhook.construct_event(body, header, secret))
    except stripe.SignatureVerificationError:
        return False


def shop(address, key, secret):
    sign, now = stripe.WebhookSignature.generate_signature_header, int(time.time())

    def grounds():
        return [(each["reference"], each["until"][:4]) for each in ask(address, "/v1/customers/alice/grounds", key=key)[1]["grounds"]
                if "ended_at" not in each]

    first = event(1, "active")
    read = stripe.Webhook.construct_event(first, sign(first, secret), secret).data.object
    assert isinstance(read, stripe.Subscription) and read["items"].data[0].current_period_end == PERIOD and read.metadata["assay_customer"] == "alice"
    right = sign(first, secret)
    code = right.partition("v1=")[2]
    headers = [None, "", f"t={now}", sign(first, "whsec_other"), sign(first + " ", secret), sign(first, secret, now - 600),
               right.replace("v1=", "v0="), right[:-1], right.replace("t=", "t=1"), f"t={now},v1=00,v1={sign(first, 'whsec_x')[-64:]}"]
    for header in headers:
        assert not is_accepted(first, header, secret), header
        assert post(address, first, header) == (400, "stripe_signature_invalid"), header
    # The library does not bound the future; the server does.
    future = sign(first, secret, now + 86_400)
    assert is_accepted(first, future, secret) and post(address, first, future) == (400, "stripe_signature_invalid")
    assert grounds() == []
    several = right.replace("v1=", "v1=00,v0=11,v1=") + f",v1={sign(first, 'whsec_x')[-64:]}"
    assert is_accepted(first, several, secret) and post(address, first, several) == (200, "recorded") and code in several
    assert grounds() == [("sub_1/gold", "2100")], grounds()
    assert post(address, first, right) == (200, "repeated")
    for number, status, has_ends, expected in ((3, "past_due", True, []), (2, "active", True, []), (4, "active", False, [("sub_1/gold", "2100")]),
                                               (5, "canceled", True, [])):
        body = event(number, status, has_ends)
        result = "superseded" if number == 2 else "recorded"
        assert post(address, body, sign(body, secret)) == (200, result) and grounds() == expected, (number, grounds())
    print(f"  accepted: 5 events; {len(headers) + 1} signatures are refused")
