"""Signed transactions and notifications, and forgeries of them, by an authority of `assay mint`. Needs PyPI's cryptography."""
import base64
import datetime
import json
import os
import time
import uuid

from servers import BUNDLE, CLUB, COINS, mint, with_packages

try:
    from cryptography import x509
except ImportError:
    with_packages("load", "cryptography")
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

# Purchases of a month ago, which end in twelve hours, and refunds and renewals that were signed a minute ago.
HOUR = 3_600_000
NOW = int(time.time() * 1000) - HOUR // 60
ENDS = NOW + 12 * HOUR
BOUGHT = ENDS - 720 * HOUR


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def jws(header, key, claims):
    text = header + b"." + base64url(json.dumps(claims, separators=(",", ":")).encode())
    r, s = decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
    return text + b"." + base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def body(payload):
    """The request of a notification."""
    return b'{"signedPayload":"' + payload + b'"}'


def certificate(subject, issuer, key, issuer_key):
    builder = x509.CertificateBuilder(
        subject_name=subject, issuer_name=issuer, public_key=key.public_key(), serial_number=x509.random_serial_number(),
        not_valid_before=datetime.datetime(2008, 1, 1), not_valid_after=datetime.datetime(2049, 12, 31))
    if key is issuer_key:
        builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    return builder.sign(issuer_key, hashes.SHA384())


def named(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Mint:
    """Signs what Apple signs. `trust` are the anchors."""

    def __init__(self, program, folder):
        authority = os.path.join(folder, "authority")
        sample = mint(program, folder, "--authority", authority, "--kind", "notification")
        self.header, self.trust = sample.split(".")[0].encode(), os.path.join(authority, "trust.pem")
        with open(f"{authority}/signed-data/leaf.key.pem", "rb") as file:
            self.key = serialization.load_pem_private_key(file.read(), None)
        with open(f"{authority}/signed-data/root.der", "rb") as file:
            self.root = x509.load_der_x509_certificate(file.read())

    def sign(self, claims):
        return jws(self.header, self.key, claims)

    def transaction(self, number, product, **more):
        """A transaction: the first one of its original, if `more` names no other."""
        name = f"{2_000_000_000_000_000 + number * 7}"
        claims = {
            "transactionId": name, "originalTransactionId": name, "bundleId": BUNDLE, "productId": product,
            "purchaseDate": BOUGHT, "originalPurchaseDate": BOUGHT, "quantity": 1, "type": "Consumable",
            "inAppOwnershipType": "PURCHASED", "signedDate": BOUGHT, "environment": "Sandbox",
            "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441", "price": 990,
            "currency": "USD", "appTransactionId": f"{700_000_000_000_000_000 + number}",
        }
        if product == CLUB:
            claims |= {"type": "Auto-Renewable Subscription", "subscriptionGroupIdentifier": "club", "expiresDate": ENDS}
        return claims | more

    def claim(self, number, product=COINS, transaction=None, customer=None):
        """A request that buys."""
        transaction = transaction or self.transaction(number, product)
        return json.dumps({
            "receipt_data": self.sign(transaction).decode(), "product_id": product,
            "transaction_id": transaction["transactionId"], "customer_id": customer or f"customer-{number}"}).encode()

    def period(self, number, place, last, token):
        """The claims of a period of a weekly subscription, counted from 1, whose last one began an hour ago."""
        first, begin = int(self.transaction(number, CLUB)["transactionId"]), NOW - HOUR - (last - 1) * 168 * HOUR
        at = begin + (place - 1) * 168 * HOUR
        return self.transaction(number, CLUB, originalPurchaseDate=begin, transactionId=f"{first + place - 1}", purchaseDate=at, signedDate=NOW,
                                expiresDate=at + 168 * HOUR, transactionReason="RENEWAL" if place > 1 else "PURCHASE", appAccountToken=token)

    def notification(self, kind, transaction, renewal_info=None, status=1, subtype=None):
        data = {"bundleId": BUNDLE, "bundleVersion": "1", "environment": transaction["environment"],
                "signedTransactionInfo": self.sign(transaction).decode()}
        if renewal_info:
            data |= {"signedRenewalInfo": self.sign(renewal_info).decode(), "status": status}
        return body(self.sign({
            "notificationType": kind, "notificationUUID": str(uuid.uuid4()), "version": "2.0",
            "signedDate": transaction["signedDate"], "data": data} | ({"subtype": subtype} if subtype else {})))

    def refund(self, number):
        """The refund of a consumable: two signatures."""
        return self.notification("REFUND", self.transaction(
            number, COINS, signedDate=NOW, revocationDate=NOW, revocationReason=0, revocationType="REFUND_FULL",
            revocationPercentage=100_000))

    def renewal(self, number):
        """The renewal of a subscription: three signatures."""
        end = ENDS + 720 * HOUR
        first = self.transaction(number, CLUB)
        transaction = self.transaction(
            number, CLUB, transactionId=f"{int(first['transactionId']) + 1}", purchaseDate=ENDS, signedDate=NOW,
            expiresDate=end, transactionReason="RENEWAL")
        return self.notification("DID_RENEW", transaction, {
            "originalTransactionId": first["originalTransactionId"], "autoRenewProductId": CLUB, "productId": CLUB,
            "autoRenewStatus": 1, "renewalPrice": 990, "currency": "USD", "signedDate": NOW,
            "environment": "Sandbox", "recentSubscriptionStartDate": BOUGHT, "renewalDate": end,
            "appTransactionId": first["appTransactionId"]})

    def forgeries(self, genuine):
        """Copies of genuine requests with the signature of the request before, and as many notifications of cross-signed authorities.

        Each of the latter has a header of its own, and every second intermediate claims to be issued by the trusted root, so that its
        signature is checked, too: the most that a search can cost.
        """
        cuts = [text[:-2].rpartition(b".") for text in genuine]
        bad = [head + dot + cuts[place - 1][2] + b'"}' for place, (head, dot, _) in enumerate(cuts)]
        authority, key = (ec.generate_private_key(curve()) for curve in (ec.SECP384R1, ec.SECP256R1))
        first, second, leaf = (named(f"Assay Simulator {name}") for name in ("First Cross CA", "Second Cross CA", "Data Signing"))
        other = certificate(second, first, authority, authority)
        intermediates = [certificate(first, issuer, authority, authority) for issuer in (second, self.root.subject)]
        claims = {"notificationType": "TEST", "version": "2.0", "signedDate": NOW, "data": {"bundleId": BUNDLE, "environment": "Sandbox"}}
        for number, text in enumerate(bad):
            chain = [certificate(leaf, first, key, authority), intermediates[number % 2], other]
            ders = [base64.b64encode(each.public_bytes(serialization.Encoding.DER)).decode() for each in chain]
            header = json.dumps({"alg": "ES256", "x5c": ders}, separators=(",", ":"))
            yield text
            yield body(jws(base64url(header.encode()), key, claims | {"notificationUUID": str(uuid.uuid4())}))
