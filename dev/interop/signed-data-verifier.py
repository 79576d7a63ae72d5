#!/usr/bin/env python3
"""Apple's own library for Python over signed data: what it says of chain, markers and signature.

    pip install app-store-server-library
    python3 dev/interop/signed-data-verifier.py ROOT.der... < cases

Each line of the input is a name, a tab, and the bytes of a JWS in hexadecimal; each line of the output the name, a tab,
`accepted` or `refused`, a tab, and the reason. Environment, bundle id and the app's number are set for each case to what
it says of itself, so that they decide nothing. Nothing is asked of the network.
"""
import base64
import json
import sys

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus

ROOTS = [open(path, "rb").read() for path in sys.argv[1:]]


def claims_of(jws):
    try:
        part = jws.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return claims if isinstance(claims, dict) else {}
    except Exception:
        return {}


def method_of(verifier, claims):
    if "notificationType" in claims or "notificationUUID" in claims:
        return verifier.verify_and_decode_notification
    if "receiptType" in claims or "receiptCreationDate" in claims:
        return verifier.verify_and_decode_app_transaction
    if "autoRenewStatus" in claims or "autoRenewProductId" in claims:
        return verifier.verify_and_decode_renewal_info
    return verifier.verify_and_decode_signed_transaction


def root_cause(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}".replace("\t", " ").replace("\n", " ")


def verdict(jws):
    claims = claims_of(jws)
    part = next((claims[key] for key in ("data", "summary", "appData") if isinstance(claims.get(key), dict)), claims)
    production = "Production" in (part.get("environment"), part.get("receiptType"))
    environment = Environment.PRODUCTION if production else Environment.SANDBOX
    verifier = SignedDataVerifier(ROOTS, False, environment, part.get("bundleId"), part.get("appAppleId") or 1)
    try:
        method_of(verifier, claims)(jws)
    except VerificationException as error:
        # These two are asked after the signature was found right.
        if error.status in (VerificationStatus.INVALID_ENVIRONMENT, VerificationStatus.INVALID_APP_IDENTIFIER):
            return "accepted", error.status.name
        return "refused", f"{error.status.name}: {root_cause(error)}"
    except Exception as error:
        # What is wrong with claims of the wrong type, after the signature, too.
        return "accepted", f"claims: {root_cause(error)}"
    return "accepted", ""


for line in sys.stdin:
    name, text = line.rstrip("\n").split("\t")
    word, reason = verdict(bytes.fromhex(text).decode("utf-8", "surrogateescape"))
    print(f"{name}\t{word}\t{reason}")
