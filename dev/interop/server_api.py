"""Apple's own library for Python, unmodified, against the simulator's App Store Server API over TLS.

Apple's host names are resolved to the simulator's port; nothing else of the library is touched. Every public method of both clients is
found by reflection and called: one without a call here is a failure. What is answered is verified by the library's verifier.
"""
import asyncio
import importlib
import inspect
import os
import socket
import time
import uuid

from appstoreserverlibrary.api_client import (
    APIError, APIException, AppStoreServerAPIClient, AsyncAppStoreServerAPIClient, GetTransactionHistoryVersion)
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

BUNDLE_ID = "com.example.served"
DAY = 86_400_000


def model(name):
    """A class of the library, each of which is in a module of its name."""
    return getattr(importlib.import_module(f"appstoreserverlibrary.models.{name}"), name)


Environment, SendAttemptResult = model("Environment"), model("SendAttemptResult")


def lead_apples_hosts_to(port, tls_root):
    os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"] = tls_root
    resolve, connect = socket.getaddrinfo, asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    def resolve_to_simulator(host, other, *arguments, **named):
        name = host.decode() if isinstance(host, bytes) else host
        if name in ("api.storekit.apple.com", "api.storekit-sandbox.apple.com"):
            return resolve("127.0.0.1", port, *arguments, **named)
        return resolve(host, other, *arguments, **named)

    async def connect_to_simulator(loop, sock, address):
        """The asynchronous client takes the address of a name from the resolver, and the port from the URL."""
        return await connect(loop, sock, ("127.0.0.1", port) if address[:2] == ("127.0.0.1", 443) else address)

    socket.getaddrinfo = resolve_to_simulator
    asyncio.selector_events.BaseSelectorEventLoop.sock_connect = connect_to_simulator


def check(condition, words):
    if not condition:
        raise AssertionError(words)


class World:
    """One environment of the store, with a verifier of the library."""

    def __init__(self, store, environment, key, app_id, root):
        self.store, self.environment, self.name = store, environment, environment.value.lower()
        self.is_sandbox = environment == Environment.SANDBOX
        self.key = (key["private_key"].encode(), key["key_id"], key["issuer_id"], BUNDLE_ID, environment)
        self.verifier = SignedDataVerifier([open(root, "rb").read()], False, environment, BUNDLE_ID, app_id)
        customer = self.customer()
        self.gold = self.buy("gold", customer)
        self.coins = [self.buy("coins", customer) for _ in range(22)]
        store.control(f"transactions/{self.coins[0]['id']}/refund", {})
        store.control("notifications/deliver", {})

    def customer(self):
        name = f"{self.name}-{uuid.uuid4().hex[:8]}"
        self.store.control("customers", {"customer_id": name, "environment": self.name})
        return name

    def buy(self, product, customer):
        sold = self.store.buy(product, customer, bundle_id=BUNDLE_ID)
        return {"id": sold["transaction"]["transaction_id"], "order": sold["order_id"], "evidence": sold["evidence"]}

    def transactions(self, signed):
        return [self.verifier.verify_and_decode_signed_transaction(each) for each in signed]


class Calls:
    """One call per method of the client, by its name; each checks its answer. `ask` calls the client."""

    def __init__(self, world, ask):
        self.world, self.ask, self.gold, self.coins = world, ask, world.gold["id"], [coin["id"] for coin in world.coins]
        self.request, self.done = f"request-{uuid.uuid4()}", set()

    def refused(self, code, name, *arguments):
        """Without a code, the answer is 404 without a body."""
        try:
            self.ask(name, *arguments)
        except APIException as error:
            known = (error.raw_api_error, error.api_error) == (code.value, code) if code else (error.http_status_code, error.raw_api_error) == (404, None)
            return check(known, (name, vars(error)))
        raise AssertionError(f"{name} was not refused")

    def identifiers(self, signed):
        return [each.transactionId for each in self.world.transactions(signed)]

    def get_transaction_info(self):
        answer = self.ask("get_transaction_info", self.gold)
        check(self.identifiers([answer.signedTransactionInfo]) == [self.gold], answer)
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, "get_transaction_info", "1234")
        self.refused(APIError.INVALID_TRANSACTION_ID, "get_transaction_info", "abc")

    def get_all_subscription_statuses(self):
        status = model("Status")
        answer = self.ask("get_all_subscription_statuses", self.coins[1], [status.ACTIVE, status.BILLING_GRACE_PERIOD])
        check(answer.environment == self.world.environment and answer.bundleId == BUNDLE_ID, answer)
        check((answer.appAppleId is None) == self.world.is_sandbox, answer)
        last = answer.data[0].lastTransactions[0]
        check(last.status == status.ACTIVE and last.originalTransactionId == self.gold, last)
        check(self.world.transactions([last.signedTransactionInfo])[0].productId == "gold", last)
        check(self.world.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo).autoRenewProductId == "gold", last)

    def get_transaction_history(self):
        for version in GetTransactionHistoryVersion:
            query = TransactionHistoryRequest(
                sort=Order.DESCENDING, revoked=False, productTypes=[ProductType.CONSUMABLE, ProductType.AUTO_RENEWABLE],
                productIds=["coins", "gold"], inAppOwnershipType=model("InAppOwnershipType").PURCHASED, startDate=0,
                endDate=int(time.time() * 1000) + DAY)
            found, revision, has_more = [], None, True
            while has_more:
                answer = self.ask("get_transaction_history", self.gold, revision, query, version)
                revision, has_more = answer.revision, answer.hasMore
                found += self.identifiers(answer.signedTransactions)
            wanted = {*self.coins[1:], self.gold}
            if version == GetTransactionHistoryVersion.V1 and "finish_transaction" in self.done:
                # The first version does not list consumables that are finished.
                wanted.discard(self.coins[2])
            check(len(found) == len(set(found)) and wanted <= set(found), (len(found), len(wanted)))
        only = TransactionHistoryRequest(revoked=True, subscriptionGroupIdentifiers=None)
        answer = self.ask("get_transaction_history", self.gold, None, only)
        check(self.identifiers(answer.signedTransactions) == self.coins[:1], answer)

    def get_refund_history(self):
        answer = self.ask("get_refund_history", self.gold, None)
        refunded = self.world.transactions(answer.signedTransactions)
        check([each.transactionId for each in refunded] == self.coins[:1], refunded)
        check(refunded[0].revocationDate is not None and not answer.hasMore, answer)
        later = self.ask("get_refund_history", self.gold, answer.revision)
        check(later.signedTransactions == [], later)

    def look_up_order_id(self):
        if self.world.is_sandbox:
            # The sandbox does not have it.
            return self.refused(None, "look_up_order_id", self.world.gold["order"])
        status = model("OrderLookupStatus")
        answer = self.ask("look_up_order_id", self.world.gold["order"])
        check(answer.status == status.VALID and self.identifiers(answer.signedTransactions) == [self.gold], answer)
        answer = self.ask("look_up_order_id", "MS0000ABCDE")
        check(answer.status == status.INVALID and answer.signedTransactions is None, answer)

    def get_app_transaction_info(self):
        answer = self.ask("get_app_transaction_info", self.gold)
        app = self.world.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
        check(app.bundleId == BUNDLE_ID and app.appTransactionId is not None, app)

    def finish_transaction(self):
        check(self.ask("finish_transaction", self.coins[2]) is None, "an answer")

    def set_app_account_token(self):
        token, wanted = str(uuid.uuid4()), model("UpdateAppAccountTokenRequest")
        self.ask("set_app_account_token", self.gold, wanted(appAccountToken=token))
        answer = self.ask("get_transaction_info", self.gold)
        check(self.world.transactions([answer.signedTransactionInfo])[0].appAccountToken == token, "another token")
        self.refused(APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR, "set_app_account_token", self.gold, wanted(appAccountToken="abc"))

    def extend_subscription_renewal_date(self):
        wanted = model("ExtendRenewalDateRequest")(
            extendByDays=3, extendReasonCode=model("ExtendReasonCode").CUSTOMER_SATISFACTION, requestIdentifier=self.request)
        # By another customer, so that the extensions of one are not counted for the next.
        bought = self.world.buy("gold", self.world.customer())["id"]
        answer = self.ask("extend_subscription_renewal_date", bought, wanted)
        check(answer.success and answer.originalTransactionId == bought and answer.effectiveDate and answer.webOrderLineItemId, answer)
        self.ask("extend_subscription_renewal_date", bought, wanted)
        self.refused(APIError.SUBSCRIPTION_MAX_EXTENSION, "extend_subscription_renewal_date", bought, wanted)

    def extend_renewal_date_for_all_active_subscribers(self):
        answer = self.ask("extend_renewal_date_for_all_active_subscribers", model("MassExtendRenewalDateRequest")(
            extendByDays=5, extendReasonCode=model("ExtendReasonCode").SERVICE_ISSUE_OR_OUTAGE, requestIdentifier=self.request,
            storefrontCountryCodes=["USA", "MEX"], productId="gold"))
        check(answer.requestIdentifier == self.request, answer)

    def get_status_of_subscription_renewal_date_extensions(self):
        self.extend_renewal_date_for_all_active_subscribers()
        name = "get_status_of_subscription_renewal_date_extensions"
        answer = self.ask(name, self.request, "gold")
        check(answer.complete and answer.requestIdentifier == self.request and answer.succeededCount >= 1, answer)
        check(answer.completeDate and answer.failedCount is not None, answer)
        self.refused(APIError.STATUS_REQUEST_NOT_FOUND, name, "none", "gold")

    def send_consumption_data(self):
        self.ask("send_consumption_data", self.coins[3], model("ConsumptionRequestV1")(
            customerConsented=True, sampleContentProvided=False, appAccountToken=str(uuid.uuid4()),
            accountTenure=model("AccountTenure").THIRTY_DAYS_TO_NINETY_DAYS))

    def send_consumption_information(self):
        consumed = model("ConsumptionRequest")(
            customerConsented=True, sampleContentProvided=False, deliveryStatus=model("DeliveryStatus").DELIVERED,
            consumptionPercentage=50_000, refundPreference=model("RefundPreference").GRANT_PRORATED)
        self.ask("send_consumption_information", self.coins[4], consumed)
        consumed.customerConsented = False
        self.refused(APIError.INVALID_CUSTOMER_CONSENTED, "send_consumption_information", self.coins[4], consumed)

    def request_test_notification(self):
        answer = self.ask("request_test_notification")
        check(answer.testNotificationToken, answer)
        return answer.testNotificationToken

    def get_test_notification_status(self):
        token = self.request_test_notification()
        self.world.store.control("notifications/deliver", {})
        answer = self.ask("get_test_notification_status", token)
        notification = self.world.verifier.verify_and_decode_notification(answer.signedPayload)
        check(notification.rawNotificationType == "TEST", notification)
        check([attempt.sendAttemptResult for attempt in answer.sendAttempts] == [SendAttemptResult.SOCKET_ISSUE], answer)
        self.refused(APIError.INVALID_TEST_NOTIFICATION_TOKEN, "get_test_notification_status", "abc")

    def get_notification_history(self):
        now = int(time.time() * 1000)
        wanted = model("NotificationHistoryRequest")(startDate=now - DAY, endDate=now + DAY, transactionId=self.gold, onlyFailures=True)
        types, token, has_more = [], None, True
        while has_more:
            answer = self.ask("get_notification_history", token, wanted)
            token, has_more = answer.paginationToken, answer.hasMore
            for item in answer.notificationHistory:
                notification = self.world.verifier.verify_and_decode_notification(item.signedPayload)
                check(item.sendAttempts[0].sendAttemptResult == SendAttemptResult.SOCKET_ISSUE, item)
                check(notification.data.bundleId == BUNDLE_ID, notification)
                types.append(notification.rawNotificationType)
        check(types.count("ONE_TIME_CHARGE") == 22 and "SUBSCRIBED" in types and "REFUND" in types, types)
        wanted.startDate = 0
        self.refused(APIError.START_DATE_TOO_FAR_IN_PAST, "get_notification_history", None, wanted)

    def configure_realtime_url(self):
        self.ask("configure_realtime_url", model("RealtimeUrlRequest")(realtimeURL="https://example.com/realtime"))

    def get_realtime_url(self):
        self.configure_realtime_url()
        check(self.ask("get_realtime_url").realtimeURL == "https://example.com/realtime", "another URL")

    def delete_realtime_url(self):
        self.configure_realtime_url()
        self.ask("delete_realtime_url")
        self.refused(APIError.REALTIME_URL_NOT_FOUND, "get_realtime_url")


# The simulator has the realtime URL of the Retention Messaging API, and none of its images, messages and performance tests.
NOT_SIMULATED = {
    "upload_image", "get_image_list", "delete_image", "upload_message", "get_message_list", "delete_message",
    "configure_default_message", "get_default_message", "delete_default_message", "initiate_performance_test",
    "get_performance_test_results", "async_close",
}


def call_all(world, client, ask):
    """Calls each public method of a client, found by reflection, in the order of names."""
    found = [name for name, _ in inspect.getmembers(client, callable) if not name.startswith("_") and name not in NOT_SIMULATED]
    check(found, "no methods")
    calls = Calls(world, ask)
    for name in found:
        calls.done.add(name)
        try:
            getattr(calls, name)()
        except APIException as error:
            raise AssertionError(f"{name}: {vars(error)}") from error
    print(f"  accepted: {type(client).__name__}, {world.environment.value}: {len(found)} methods: {' '.join(found)}")


def server_api(store, port, authority):
    lead_apples_hosts_to(port, f"{authority}/https/root.pem")
    loop, root = asyncio.new_event_loop(), f"{authority}/signed-data/root.der"
    app = store.control("apps", {"bundle_id": BUNDLE_ID})
    store.control("products", {"bundle_id": BUNDLE_ID, "product_id": "coins", "kind": "consumable"})
    store.control("products", {"bundle_id": BUNDLE_ID, "product_id": "gold", "kind": "auto-renewable", "price": 9990,
                               "subscription": {"group_id": "club", "period": "P1M"}})
    # Nobody listens there: what is sent fails, and the history tells so.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    store.control("notifications/url", {"url": f"http://127.0.0.1:{closed.getsockname()[1]}/notifications"})
    store.control("server-api/limits", {"factor": 1000})
    key = store.control("api-keys", {})
    for environment in (Environment.SANDBOX, Environment.PRODUCTION):
        for kind in (AsyncAppStoreServerAPIClient, AppStoreServerAPIClient):
            world = World(store, environment, key, app["app_id"], root)
            client = kind(*world.key)

            def ask(name, *arguments):
                answer = getattr(client, name)(*arguments)
                return loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

            call_all(world, client, ask)
            if kind is AsyncAppStoreServerAPIClient:
                loop.run_until_complete(client.async_close())
        # The library finds the transaction in an app receipt, and the API knows it.
        found = ReceiptUtility().extract_transaction_id_from_app_receipt(world.gold["evidence"]["app_receipt"])
        check(client.get_transaction_info(found).signedTransactionInfo, found)
        wrong = AppStoreServerAPIClient(world.key[0], "ABCDEFGHIJ", *world.key[2:])
        for asked, status, code in ((wrong, 401, None), (client, 429, APIError.RATE_LIMIT_EXCEEDED)):
            if code:
                store.control("faults/server-api", {"kind": "too-many-requests", "environment": world.name})
            try:
                asked.get_transaction_info(world.gold["id"])
                raise AssertionError(f"{status} was expected")
            except APIException as error:
                check(error.http_status_code == status and error.api_error == code, vars(error))
