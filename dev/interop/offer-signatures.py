#!/usr/bin/env python3
"""Offers that the server signs, compared with those of Apple's own library for Python.

    pip install app-store-server-library
    python3 dev/interop/offer-signatures.py ADDRESS API_KEY ISSUER_ID KEY_ID KEY_FILE

For each kind, the server's signature is verified with the public key, and its header and claims are compared with those
that Apple's library signs for the same offer: equal names, types and values, except the nonce and the time. The first
form of promotional offers is a bare signature, so both must verify over the same text.
"""
import base64
import json
import sys
import time
import urllib.error
import urllib.request
import uuid

import jwt
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator, IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ADDRESS, API_KEY, ISSUER, KEY_ID, KEY_FILE = sys.argv[1:6]
BUNDLE, PRODUCT, OFFER, TRANSACTION = "com.example.app", "gold", "back", "2000000000000001"
PEM = open(KEY_FILE, "rb").read()
PRIVATE = serialization.load_pem_private_key(PEM, password=None)
PUBLIC = PRIVATE.public_key()
failures = 0


def ask(body):
    request = urllib.request.Request(
        f"{ADDRESS}/v1/offers/signatures", json.dumps(body).encode(),
        {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def report(name, problems):
    global failures
    failures += bool(problems)
    print(f"{name}\t{'differs: ' + '; '.join(problems) if problems else 'equal'}")


def compare(name, ours, apples):
    """Verifies both, and compares what they say."""
    problems = []
    claims = []
    for owner, text in (("the server", ours), ("Apple's library", apples)):
        # The audience is compared below.
        claims.append(jwt.decode(text, PUBLIC, algorithms=["ES256"], options={"verify_aud": False}))
    headers = [jwt.get_unverified_header(text) for text in (ours, apples)]
    if headers[0] != headers[1]:
        problems.append(f"header {headers[0]}, expected {headers[1]}")
    if set(claims[0]) != set(claims[1]):
        problems.append(f"claims {sorted(claims[0])}, expected {sorted(claims[1])}")
    for key in sorted(set(claims[0]) & set(claims[1])):
        mine, theirs = claims[0][key], claims[1][key]
        if type(mine) is not type(theirs):
            problems.append(f"{key} is {type(mine).__name__}, expected {type(theirs).__name__}")
        elif key == "nonce":
            if str(uuid.UUID(mine)) != mine or str(uuid.UUID(theirs)) != theirs:
                problems.append(f"nonce {mine}, expected a UUID in the form of {theirs}")
        elif key == "iat":
            if abs(mine - theirs) > 600:
                problems.append(f"iat {mine}, expected about {theirs}")
        elif key == "request":
            if json.loads(base64.b64decode(mine)) != json.loads(base64.b64decode(theirs)):
                problems.append("the request differs")
        elif mine != theirs:
            problems.append(f"{key} is {mine!r}, expected {theirs!r}")
    report(name, problems)


def signed(name, body):
    status, answer = ask({"customer_id": "alice", **body})
    if status != 201:
        report(name, [f"status {status}: {answer}"])
        return None
    return answer


for label, transaction in (("with a transaction", TRANSACTION), ("without a transaction", None)):
    body = {"kind": "promotional", "product_id": PRODUCT, "offer_id": OFFER}
    if transaction:
        body["transaction_id"] = transaction
    answer = signed(f"promotional {label}", body)
    if answer:
        compare(f"promotional {label}", answer["jws"], PromotionalOfferV2SignatureCreator(
            PEM, KEY_ID, ISSUER, BUNDLE).create_signature(PRODUCT, OFFER, transaction))

for allowed in (True, False):
    answer = signed(f"introductory {allowed}", {
        "kind": "introductory_eligibility", "product_id": PRODUCT, "transaction_id": TRANSACTION,
        "allow_introductory_offer": allowed})
    if answer:
        compare(f"introductory {allowed}", answer["jws"], IntroductoryOfferEligibilitySignatureCreator(
            PEM, KEY_ID, ISSUER, BUNDLE).create_signature(PRODUCT, allowed, TRANSACTION))

request = {"operation": "CREATE_ONE_TIME_CHARGE", "version": "1", "currency": "EUR", "taxCode": "C003-00-1",
           "requestInfo": {"requestReferenceId": str(uuid.uuid4())},
           "item": {"SKU": "sku", "description": "ä description", "displayName": "name", "price": 990}}
answer = signed("advanced commerce", {"kind": "advanced_commerce", "request": json.dumps(request)})
if answer:
    # The library takes a class of its own for requests; the claims are those of any request.
    creator = AdvancedCommerceAPIInAppSignatureCreator(PEM, KEY_ID, ISSUER, BUNDLE)
    theirs = creator._create_signature({"request": base64.b64encode(json.dumps(request).encode()).decode()})
    compare("advanced commerce", answer["jws"], theirs)

for label, token in (("with a token", str(uuid.uuid4()).upper()), ("without a token", "")):
    name = f"promotional, first form, {label}"
    body = {"kind": "promotional_v1", "product_id": PRODUCT, "offer_id": OFFER}
    if token:
        body["app_account_token"] = token
    answer = signed(name, body)
    if not answer:
        continue
    nonce, timestamp = uuid.UUID(answer["nonce"]), answer["timestamp"]
    theirs = PromotionalOfferSignatureCreator(PEM, KEY_ID, BUNDLE).create_signature(
        PRODUCT, OFFER, token, nonce, timestamp)
    text = "⁣".join([BUNDLE, KEY_ID, PRODUCT, OFFER, token.lower(), str(nonce), str(timestamp)]).encode()
    problems = []
    for owner, signature in (("the server", answer["signature"]), ("Apple's library", theirs)):
        try:
            PUBLIC.verify(base64.b64decode(signature, validate=True), text, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            problems.append(f"the signature of {owner} does not verify")
    if answer["key_id"] != KEY_ID or abs(timestamp / 1000 - time.time()) > 600:
        problems.append(f"key {answer['key_id']}, timestamp {timestamp}")
    report(name, problems)

# What the settings do not allow is not signed.
for name, body, expected in (
        ("an unknown offer", {"kind": "promotional", "product_id": PRODUCT, "offer_id": "other"}, "offer_unknown"),
        ("another product", {"kind": "promotional", "product_id": "coins", "offer_id": OFFER},
         "offer_not_for_product")):
    status, answer = ask({"customer_id": "alice", **body})
    report(name, [] if status == 422 and answer.get("code") == expected else [f"status {status}: {answer}"])
sys.exit(1 if failures else 0)
