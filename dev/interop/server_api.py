#!/usr/bin/env python3
"""Apple's own library for Python, unmodified, against the simulator's App Store Server API over TLS.

    pip install 'app-store-server-library[async]' requests
    python3 dev/interop/server_api.py CONTROL_ADDRESS TLS_PORT TLS_ROOT.pem SIGNED_DATA_ROOT.der

Apple's host names are resolved to the simulator's port; nothing else of the library is touched. Every public method of
both clients is found by reflection and called: one without a call here is a failure. What is answered is verified by the
library's verifier. The offer signers sign, and their signatures are verified with the key's public half.
"""
import asyncio
import base64
import inspect
import json
import os
import socket
import sys
import time
import uuid

CONTROL, PORT, TLS_ROOT, SIGNED_DATA_ROOT = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = TLS_ROOT

import jwt
import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from appstoreserverlibrary import api_client, jws_signature_creator
from appstoreserverlibrary.api_client import (
    APIError, APIException, AppStoreServerAPIClient, AsyncAppStoreServerAPIClient, GetTransactionHistoryVersion)
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator, IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator)
from appstoreserverlibrary.models import AccountTenure
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeCreateRequest import (
    AdvancedCommerceOneTimeChargeCreateRequest)
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeItem import AdvancedCommerceOneTimeChargeItem
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

APPLES_HOSTS = {"api.storekit.apple.com", "api.storekit-sandbox.apple.com"}
BUNDLE_ID = "com.example.served"
resolve = socket.getaddrinfo


def resolve_to_simulator(host, port, *arguments, **named):
    name = host.decode() if isinstance(host, bytes) else host
    if name in APPLES_HOSTS:
        return resolve("127.0.0.1", PORT, *arguments, **named)
    return resolve(host, port, *arguments, **named)


socket.getaddrinfo = resolve_to_simulator
connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect


async def connect_to_simulator(loop, sock, address):
    """The asynchronous client takes the address of a name from the resolver, and the port from the URL."""
    return await connect(loop, sock, ("127.0.0.1", PORT) if address[:2] == ("127.0.0.1", 443) else address)


asyncio.selector_events.BaseSelectorEventLoop.sock_connect = connect_to_simulator


def post(path, body=None):
    answer = requests.post(f"{CONTROL}/control/{path}", json=body or {}, timeout=60)
    assert answer.status_code < 300, (path, answer.status_code, answer.text)
    return answer.json()


def check(condition, words):
    if not condition:
        raise AssertionError(words)


class World:
    """One environment of the store, with a client and a verifier of the library."""

    def __init__(self, environment, key, app_id):
        self.environment = environment
        self.is_sandbox = environment == Environment.SANDBOX
        self.customer = f"{environment.value.lower()}-{uuid.uuid4().hex[:8]}"
        self.key = (key["private_key"].encode(), key["key_id"], key["issuer_id"], BUNDLE_ID, environment)
        root = open(SIGNED_DATA_ROOT, "rb").read()
        self.verifier = SignedDataVerifier([root], False, environment, BUNDLE_ID, app_id)
        post("customers", {"customer_id": self.customer, "environment": environment.value.lower()})
        self.gold = self.buy("gold")
        self.coins = [self.buy("coins") for _ in range(22)]
        post(f"transactions/{self.coins[0]['id']}/refund")
        post("notifications/deliver")

    def buy(self, product):
        sold = post("purchases", {"bundle_id": BUNDLE_ID, "product_id": product, "customer_id": self.customer})
        return {"id": sold["transaction"]["transaction_id"], "order": sold["order_id"], "evidence": sold["evidence"]}

    def transaction(self, signed):
        return self.verifier.verify_and_decode_signed_transaction(signed)


class Calls:
    """One call per method of the client, by its name; each checks its answer. `ask` calls the client."""

    def __init__(self, world, ask):
        self.world, self.ask = world, ask
        self.request = f"request-{uuid.uuid4()}"

    async def refused(self, code, name, *arguments):
        try:
            await self.ask(name, *arguments)
        except APIException as error:
            check(error.raw_api_error == code.value and error.api_error == code, (name, vars(error)))
            return
        raise AssertionError(f"{name} was not refused")

    async def get_transaction_info(self):
        world = self.world
        answer = await self.ask("get_transaction_info", world.gold["id"])
        check(world.transaction(answer.signedTransactionInfo).transactionId == world.gold["id"], answer)
        await self.refused(APIError.TRANSACTION_ID_NOT_FOUND, "get_transaction_info", "1234")
        await self.refused(APIError.INVALID_TRANSACTION_ID, "get_transaction_info", "abc")

    async def get_all_subscription_statuses(self):
        world = self.world
        statuses = [Status.ACTIVE, Status.BILLING_GRACE_PERIOD]
        answer = await self.ask("get_all_subscription_statuses", world.coins[1]["id"], statuses)
        check(answer.environment == world.environment and answer.bundleId == BUNDLE_ID, answer)
        check((answer.appAppleId is None) == world.is_sandbox, answer)
        last = answer.data[0].lastTransactions[0]
        check(last.status == Status.ACTIVE and last.originalTransactionId == world.gold["id"], last)
        check(world.transaction(last.signedTransactionInfo).productId == "gold", last)
        renewal = world.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        check(renewal.autoRenewProductId == "gold", renewal)

    async def get_transaction_history(self):
        world = self.world
        for version in GetTransactionHistoryVersion:
            query = TransactionHistoryRequest(
                sort=Order.DESCENDING, revoked=False, productTypes=[ProductType.CONSUMABLE, ProductType.AUTO_RENEWABLE],
                productIds=["coins", "gold"], inAppOwnershipType=InAppOwnershipType.PURCHASED, startDate=0,
                endDate=int(time.time() * 1000) + 86_400_000)
            found, revision, has_more = [], None, True
            while has_more:
                answer = await self.ask("get_transaction_history", world.gold["id"], revision, query, version)
                revision, has_more = answer.revision, answer.hasMore
                found += [world.transaction(item).transactionId for item in answer.signedTransactions]
            wanted = {item["id"] for item in world.coins[1:]} | {world.gold["id"]}
            if version == GetTransactionHistoryVersion.V1 and "finish_transaction" in self.done:
                # The first version does not list consumables that are finished.
                wanted.discard(world.coins[2]["id"])
            check(len(found) == len(set(found)) and wanted <= set(found), (len(found), len(wanted)))
        only = TransactionHistoryRequest(revoked=True, subscriptionGroupIdentifiers=None)
        answer = await self.ask("get_transaction_history", world.gold["id"], None, only)
        check([world.transaction(item).transactionId for item in answer.signedTransactions] == [world.coins[0]["id"]], answer)

    async def get_refund_history(self):
        world = self.world
        answer = await self.ask("get_refund_history", world.gold["id"], None)
        refunded = [world.transaction(item) for item in answer.signedTransactions]
        check([item.transactionId for item in refunded] == [world.coins[0]["id"]], refunded)
        check(refunded[0].revocationDate is not None and not answer.hasMore, answer)
        later = await self.ask("get_refund_history", world.gold["id"], answer.revision)
        check(later.signedTransactions == [], later)

    async def look_up_order_id(self):
        world = self.world
        if world.is_sandbox:
            # The sandbox does not have it: 404 without a body.
            try:
                await self.ask("look_up_order_id", world.gold["order"])
            except APIException as error:
                check(error.http_status_code == 404 and error.raw_api_error is None, vars(error))
                return
            raise AssertionError("the sandbox finds orders")
        answer = await self.ask("look_up_order_id", world.gold["order"])
        check(answer.status == OrderLookupStatus.VALID, answer)
        check([world.transaction(item).transactionId for item in answer.signedTransactions] == [world.gold["id"]], answer)
        answer = await self.ask("look_up_order_id", "MS0000ABCDE")
        check(answer.status == OrderLookupStatus.INVALID and answer.signedTransactions is None, answer)

    async def get_app_transaction_info(self):
        answer = await self.ask("get_app_transaction_info", self.world.gold["id"])
        app = self.world.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
        check(app.bundleId == BUNDLE_ID and app.appTransactionId is not None, app)

    async def finish_transaction(self):
        check(await self.ask("finish_transaction", self.world.coins[2]["id"]) is None, "an answer")

    async def set_app_account_token(self):
        world, token = self.world, str(uuid.uuid4())
        await self.ask("set_app_account_token", world.gold["id"], UpdateAppAccountTokenRequest(appAccountToken=token))
        answer = await self.ask("get_transaction_info", world.gold["id"])
        check(world.transaction(answer.signedTransactionInfo).appAccountToken == token, "another token")
        await self.refused(
            APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR, "set_app_account_token", world.gold["id"],
            UpdateAppAccountTokenRequest(appAccountToken="abc"))

    async def extend_subscription_renewal_date(self):
        wanted = ExtendRenewalDateRequest(
            extendByDays=3, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier=self.request)
        bought = self.buy_subscription()
        answer = await self.ask("extend_subscription_renewal_date", bought, wanted)
        check(answer.success and answer.originalTransactionId == bought and answer.effectiveDate, answer)
        check(answer.webOrderLineItemId, answer)
        await self.ask("extend_subscription_renewal_date", bought, wanted)
        await self.refused(
            APIError.SUBSCRIPTION_MAX_EXTENSION, "extend_subscription_renewal_date", bought, wanted)

    def buy_subscription(self):
        """By another customer, so that the extensions of one are not counted for the next."""
        customer = f"subscriber-{uuid.uuid4().hex[:8]}"
        post("customers", {"customer_id": customer, "environment": self.world.environment.value.lower()})
        sold = post("purchases", {"bundle_id": BUNDLE_ID, "product_id": "gold", "customer_id": customer})
        return sold["transaction"]["transaction_id"]

    async def extend_renewal_date_for_all_active_subscribers(self):
        answer = await self.ask(
            "extend_renewal_date_for_all_active_subscribers", MassExtendRenewalDateRequest(
                extendByDays=5, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
                requestIdentifier=self.request, storefrontCountryCodes=["USA", "MEX"], productId="gold"))
        check(answer.requestIdentifier == self.request, answer)

    async def get_status_of_subscription_renewal_date_extensions(self):
        await self.extend_renewal_date_for_all_active_subscribers()
        answer = await self.ask("get_status_of_subscription_renewal_date_extensions", self.request, "gold")
        check(answer.complete and answer.requestIdentifier == self.request and answer.succeededCount >= 1, answer)
        check(answer.completeDate and answer.failedCount is not None, answer)
        await self.refused(
            APIError.STATUS_REQUEST_NOT_FOUND, "get_status_of_subscription_renewal_date_extensions", "none", "gold")

    async def send_consumption_data(self):
        await self.ask("send_consumption_data", self.world.coins[3]["id"], ConsumptionRequestV1(
            customerConsented=True, sampleContentProvided=False, appAccountToken=str(uuid.uuid4()),
            accountTenure=AccountTenure.AccountTenure.THIRTY_DAYS_TO_NINETY_DAYS))

    async def send_consumption_information(self):
        consumed = ConsumptionRequest(
            customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
            consumptionPercentage=50_000, refundPreference=RefundPreference.GRANT_PRORATED)
        await self.ask("send_consumption_information", self.world.coins[4]["id"], consumed)
        consumed.customerConsented = False
        await self.refused(
            APIError.INVALID_CUSTOMER_CONSENTED, "send_consumption_information", self.world.coins[4]["id"], consumed)

    async def request_test_notification(self):
        answer = await self.ask("request_test_notification")
        check(answer.testNotificationToken, answer)
        return answer.testNotificationToken

    async def get_test_notification_status(self):
        token = await self.request_test_notification()
        post("notifications/deliver")
        answer = await self.ask("get_test_notification_status", token)
        notification = self.world.verifier.verify_and_decode_notification(answer.signedPayload)
        check(notification.rawNotificationType == "TEST", notification)
        check([attempt.sendAttemptResult for attempt in answer.sendAttempts] == [SendAttemptResult.SOCKET_ISSUE], answer)
        await self.refused(APIError.INVALID_TEST_NOTIFICATION_TOKEN, "get_test_notification_status", "abc")

    async def get_notification_history(self):
        now = int(time.time() * 1000)
        wanted = NotificationHistoryRequest(
            startDate=now - 86_400_000, endDate=now + 86_400_000, transactionId=self.world.gold["id"], onlyFailures=True)
        types, token, has_more = [], None, True
        while has_more:
            answer = await self.ask("get_notification_history", token, wanted)
            token, has_more = answer.paginationToken, answer.hasMore
            for item in answer.notificationHistory:
                notification = self.world.verifier.verify_and_decode_notification(item.signedPayload)
                check(item.sendAttempts[0].sendAttemptResult == SendAttemptResult.SOCKET_ISSUE, item)
                check(notification.data.bundleId == BUNDLE_ID, notification)
                types.append(notification.rawNotificationType)
        check(types.count("ONE_TIME_CHARGE") == 22 and "SUBSCRIBED" in types and "REFUND" in types, types)
        wanted.startDate = 0
        await self.refused(APIError.START_DATE_TOO_FAR_IN_PAST, "get_notification_history", None, wanted)

    async def configure_realtime_url(self):
        await self.ask("configure_realtime_url", RealtimeUrlRequest(realtimeURL="https://example.com/realtime"))

    async def get_realtime_url(self):
        await self.configure_realtime_url()
        check((await self.ask("get_realtime_url")).realtimeURL == "https://example.com/realtime", "another URL")

    async def delete_realtime_url(self):
        await self.configure_realtime_url()
        await self.ask("delete_realtime_url")
        await self.refused(APIError.REALTIME_URL_NOT_FOUND, "get_realtime_url")

    # The order of reflection is that of names; what a call needs is called before.
    async def ensure(self, name):
        if name not in self.done:
            self.done.add(name)
            await getattr(self, name)()

    done = frozenset()


# The simulator has the realtime URL of the Retention Messaging API, and none of its images, messages and performance tests.
NOT_SIMULATED = {
    "upload_image", "get_image_list", "delete_image", "upload_message", "get_message_list", "delete_message",
    "configure_default_message", "get_default_message", "delete_default_message", "initiate_performance_test",
    "get_performance_test_results",
}


def methods(client):
    """The public methods of a client, by reflection, that the simulator answers."""
    return [name for name, _ in inspect.getmembers(client, callable)
            if not name.startswith("_") and name != "async_close" and name not in NOT_SIMULATED]


async def call_all(world, client, name, ask):
    calls = Calls(world, ask)
    calls.done = set()
    found = methods(client)
    missing = [method for method in found if not hasattr(calls, method)]
    check(not missing, f"no call for {missing}")
    for method in found:
        if method in calls.done:
            continue
        calls.done.add(method)
        try:
            await getattr(calls, method)()
        except APIException as error:
            raise AssertionError(f"{method}: {vars(error)}") from error
    print(f"{name}, {world.environment.value}: {len(found)} methods accepted")
    print("\n".join(f"    {method}" for method in found))


def verify_offers(key):
    private = key["private_key"].encode()
    public = serialization.load_pem_private_key(private, None).public_key()
    nonce, now = uuid.uuid4(), int(time.time() * 1000)
    signature = PromotionalOfferSignatureCreator(private, key["key_id"], BUNDLE_ID).create_signature(
        "gold", "back", "customer", nonce, now)
    text = "\u2063".join([BUNDLE_ID, key["key_id"], "gold", "back", "customer", str(nonce).lower(), str(now)])
    public.verify(base64.b64decode(signature), text.encode(), ec.ECDSA(hashes.SHA256()))
    identity = (private, key["key_id"], key["issuer_id"], BUNDLE_ID)
    charge = AdvancedCommerceOneTimeChargeCreateRequest(
        requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=uuid.uuid4()), currency="USD", taxCode="C003",
        item=AdvancedCommerceOneTimeChargeItem(SKU="coins", description="Coins", displayName="Coins", price=990))
    for audience, signed in [
        ("promotional-offer", PromotionalOfferV2SignatureCreator(*identity).create_signature("gold", "back", "1")),
        ("introductory-offer-eligibility",
         IntroductoryOfferEligibilitySignatureCreator(*identity).create_signature("gold", True, "1")),
        ("advanced-commerce-api", AdvancedCommerceAPIInAppSignatureCreator(*identity).create_signature(charge)),
    ]:
        claims = jwt.decode(signed, public, algorithms=["ES256"], audience=audience)
        check(claims["bid"] == BUNDLE_ID and claims["iss"] == key["issuer_id"], claims)
    creators = [name for name, value in vars(jws_signature_creator).items()
                if inspect.isclass(value) and name.endswith("SignatureCreator") and name != "JWSSignatureCreator"]
    check(len(creators) == 3, creators)
    print("offer signers: 4 accepted")


async def main():
    app = post("apps", {"bundle_id": BUNDLE_ID})
    post("products", {"bundle_id": BUNDLE_ID, "product_id": "coins", "kind": "consumable"})
    post("products", {"bundle_id": BUNDLE_ID, "product_id": "gold", "kind": "auto-renewable", "price": 9990,
                      "subscription": {"group_id": "club", "period": "P1M"}})
    # Nobody listens there: what is sent fails, and the history tells so.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    post("notifications/url", {"url": f"http://127.0.0.1:{closed.getsockname()[1]}/notifications"})
    post("server-api/limits", {"factor": 1000})
    key = post("api-keys")
    for environment in [Environment.SANDBOX, Environment.PRODUCTION]:
        world = World(environment, key, app["app_id"])
        client = AppStoreServerAPIClient(*world.key)

        async def ask(name, *arguments):
            return getattr(client, name)(*arguments)
        await call_all(world, client, "AppStoreServerAPIClient", ask)

        world = World(environment, key, app["app_id"])
        parallel = AsyncAppStoreServerAPIClient(*world.key)

        async def ask_later(name, *arguments):
            return await getattr(parallel, name)(*arguments)
        await call_all(world, parallel, "AsyncAppStoreServerAPIClient", ask_later)
        await parallel.async_close()

        # The library finds the transaction in an app receipt, and the API knows it.
        found = ReceiptUtility().extract_transaction_id_from_app_receipt(world.gold["evidence"]["app_receipt"])
        check(client.get_transaction_info(found).signedTransactionInfo, found)

        wrong = AppStoreServerAPIClient(world.key[0], "ABCDEFGHIJ", *world.key[2:])
        try:
            wrong.get_transaction_info(world.gold["id"])
            raise AssertionError("an unknown key is accepted")
        except APIException as error:
            check(error.http_status_code == 401 and error.raw_api_error is None, vars(error))
        post("faults/server-api", {"kind": "too-many-requests", "environment": environment.value.lower()})
        try:
            client.get_transaction_info(world.gold["id"])
            raise AssertionError("the limit is not reached")
        except APIException as error:
            check(error.api_error == APIError.RATE_LIMIT_EXCEEDED, vars(error))
    verify_offers(key)


asyncio.run(main())
