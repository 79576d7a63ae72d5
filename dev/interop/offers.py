"""Offers that the server signs, compared with those of Apple's own library for Python.

For each kind, the server's signature is verified with the public key, and its header and claims are compared with those that Apple's
library signs for the same offer: equal names, types and values, except the nonce and the time. The first form of promotional offers is
a bare signature, so both must verify over the same text.
"""
import base64
import json
import time
import uuid

import jwt
from appstoreserverlibrary import jws_signature_creator
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator, IntroductoryOfferEligibilitySignatureCreator, PromotionalOfferV2SignatureCreator)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from servers import ask

BUNDLE, PRODUCT, OFFER, TRANSACTION = "com.example.app", "gold", "back", "2000000000000001"
# How the values of a claim are compared whose values are not equal: ours, and the library's.
ALIKE = {
    "nonce": lambda ours, theirs: all(str(uuid.UUID(each)) == each for each in (ours, theirs)),
    "iat": lambda ours, theirs: abs(ours - theirs) < 600,
    "request": lambda ours, theirs: json.loads(base64.b64decode(ours)) == json.loads(base64.b64decode(theirs)),
}


def compare(name, public, *texts):
    """Verifies both, and compares what they say."""
    # The audience is compared with the other claims.
    ours, theirs = (jwt.decode(text, public, algorithms=["ES256"], options={"verify_aud": False}) for text in texts)
    headers = [jwt.get_unverified_header(text) for text in texts]
    assert headers[0] == headers[1] and set(ours) == set(theirs), f"{name}: {headers}, {sorted(ours)}, {sorted(theirs)}"
    for key, value in ours.items():
        is_alike = ALIKE.get(key, lambda left, right: left == right)
        assert type(value) is type(theirs[key]) and is_alike(value, theirs[key]), f"{name}: {key} is {value!r}, expected {theirs[key]!r}"


def offers(address, api_key, issuer, key_id, pem):
    signers = {name for name in vars(jws_signature_creator) if name.endswith("SignatureCreator")}
    assert len(signers) == 4, f"the library has {signers}: three kinds, and what they have in common"
    private = serialization.load_pem_private_key(pem, password=None)
    public, identity = private.public_key(), (pem, key_id, issuer, BUNDLE)

    def signed(kind, **body):
        status, answer = ask(address, "/v1/offers/signatures", {"customer_id": "alice", "kind": kind} | body, api_key)
        assert status == 201, f"{kind}: status {status}: {answer}"
        return answer

    promotional = {"product_id": PRODUCT, "offer_id": OFFER}
    for transaction in (TRANSACTION, None):
        answer = signed("promotional", **promotional, **({"transaction_id": transaction} if transaction else {}))
        theirs = PromotionalOfferV2SignatureCreator(*identity).create_signature(PRODUCT, OFFER, transaction)
        compare("promotional", public, answer["jws"], theirs)
    for allowed in (True, False):
        answer = signed("introductory_eligibility", product_id=PRODUCT, transaction_id=TRANSACTION, allow_introductory_offer=allowed)
        theirs = IntroductoryOfferEligibilitySignatureCreator(*identity).create_signature(PRODUCT, allowed, TRANSACTION)
        compare("introductory", public, answer["jws"], theirs)
    request = json.dumps({
        "operation": "CREATE_ONE_TIME_CHARGE", "version": "1", "currency": "EUR", "taxCode": "C003-00-1",
        "requestInfo": {"requestReferenceId": str(uuid.uuid4())},
        "item": {"SKU": "sku", "description": "ä description", "displayName": "name", "price": 990}})
    # The library takes a class of its own for requests; the claims are those of any request.
    creator = AdvancedCommerceAPIInAppSignatureCreator(*identity)
    theirs = creator._create_signature({"request": base64.b64encode(request.encode()).decode()})
    compare("advanced commerce", public, signed("advanced_commerce", request=request)["jws"], theirs)
    for token in (str(uuid.uuid4()).upper(), ""):
        answer = signed("promotional_v1", **promotional, **({"app_account_token": token} if token else {}))
        nonce, timestamp = uuid.UUID(answer["nonce"]), answer["timestamp"]
        theirs = PromotionalOfferSignatureCreator(pem, key_id, BUNDLE).create_signature(PRODUCT, OFFER, token, nonce, timestamp)
        text = "\u2063".join([BUNDLE, key_id, PRODUCT, OFFER, token.lower(), str(nonce), str(timestamp)]).encode()
        for signature in (answer["signature"], theirs):
            public.verify(base64.b64decode(signature, validate=True), text, ec.ECDSA(hashes.SHA256()))
        assert answer["key_id"] == key_id and abs(timestamp / 1000 - time.time()) < 600, answer
    # What the settings do not allow is not signed.
    for offer, expected in ((promotional | {"offer_id": "other"}, "offer_unknown"), (promotional | {"product_id": "coins"}, "offer_not_for_product")):
        status, answer = ask(address, "/v1/offers/signatures", {"customer_id": "alice", "kind": "promotional"} | offer, api_key)
        assert (status, answer.get("code")) == (422, expected), f"{offer}: status {status}: {answer}"
    print("  accepted: 7 offers are those of the library, 2 are refused")
