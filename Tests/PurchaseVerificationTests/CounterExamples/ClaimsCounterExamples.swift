import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// What can be wrong with the claims of signed data: their form, their types, and that they are of no known kind.
enum ClaimsCounterExamples {
    static let all: [CounterExample] = form + types + dates + kinds + parts

    private static let form: [CounterExample] = formOfEach + noText + tooMuch

    private static let tooMuch: [CounterExample] = [
        .payload(
            .claimsMalformed, "17 levels of JSON",
            ClaimsText.object(ClaimsText.transaction, ["more": BoundedJSON.nested(levels: 16)])),
        .payload(
            .claimsMalformed, "17 levels of JSON, with brackets and escapes in texts around them",
            ClaimsText.object(
                ClaimsText.transaction,
                ["less": #""}]}\"]""#, "more": BoundedJSON.nested(levels: 16, open: "[", close: "]")])),
        .payload(
            .claimsMalformed, "4,097 values",
            ClaimsText.object(
                ClaimsText.transaction, ["more": BoundedJSON.list(of: 4096 - ClaimsText.transaction.count)])),
    ]

    private static let formOfEach: [CounterExample] =
        [
            "[]", "[{}]", "null", "true", "1", #""text""#, "", "{", #"{"signedDate":1700000000000"#,
            #"{"signedDate":1700000000000}{}"#, "{signedDate:1700000000000}",
            #"{'signedDate':1700000000000}"#, "<plist/>",
        ].map { payload in
            .payload(payload.isEmpty ? .jwsMalformed : .claimsMalformed, "the payload '\(payload)'", payload)
        }

    private static let noText: [CounterExample] = [
        .evidence(.claimsMalformed, "a payload that is no UTF-8") {
            var jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction))
            jws.payload = ""
            let input =
                HandmadeJWS.base64URL(Array(jws.header.utf8)) + "." + HandmadeJWS.base64URL([0x7B, 0xC3, 0x28])
            return Array((input + "." + HandmadeJWS.base64URL([UInt8](repeating: 1, count: 64))).utf8)
        }
    ]

    /// The claims on which something rests, by kind, each with values of other types than its own.
    private static let types: [CounterExample] =
        types("transaction", ClaimsText.transaction, transaction)
        + types("renewal info", ClaimsText.renewalInfo, renewalInfo)
        + types("app transaction", ClaimsText.appTransaction, appTransaction)
        + types("notification", ClaimsText.notification, notification)

    private static func types(
        _ kind: String, _ claims: [String: String], _ wrong: [(String, String)]
    ) -> [CounterExample] {
        wrong.map { name, value in
            .payload(.claimsMalformed, "\(kind): \(name) as \(value)", ClaimsText.object(claims, [name: value]))
        }
    }

    private static let texts = ["1", "true", "[]", "{}"]
    private static let numbers = [#""1""#, "1.5", "true", "[]", "1e300"]
    private static let flags = [#""true""#, "1", "[]"]

    private static func each(_ names: [String], _ values: [String]) -> [(String, String)] {
        names.flatMap { name in values.map { (name, $0) } }
    }

    private static let transaction: [(String, String)] =
        each(
            [
                "transactionId", "originalTransactionId", "bundleId", "productId", "type", "appAccountToken",
                "inAppOwnershipType", "environment", "deviceVerification", "deviceVerificationNonce",
            ], texts) + each(["quantity", "revocationReason"], numbers) + each(["isUpgraded"], flags)

    private static let renewalInfo: [(String, String)] =
        each(
            [
                "originalTransactionId", "autoRenewProductId", "productId", "environment", "appAccountToken",
                "deviceVerification", "deviceVerificationNonce",
            ], texts) + each(["expirationIntent", "autoRenewStatus"], numbers) + each(["isInBillingRetryPeriod"], flags)

    private static let appTransaction: [(String, String)] =
        each(
            ["receiptType", "bundleId", "applicationVersion", "deviceVerification", "deviceVerificationNonce"], texts)
        + each(["appAppleId"], numbers + ["-1", "18446744073709551616"])

    private static let notification: [(String, String)] =
        each(["notificationType", "subtype", "notificationUUID"], texts)
        + each(["data", "summary", "externalPurchaseToken", "appData"], ["1", #""text""#, "true", "[]"])
        + [
            ("data", #"{"bundleId":1}"#), ("data", #"{"environment":[]}"#), ("data", #"{"appAppleId":-1}"#),
            ("data", #"{"appAppleId":"1"}"#), ("data", #"{"status":"1"}"#), ("data", #"{"signedTransactionInfo":{}}"#),
            ("data", #"{"signedRenewalInfo":1}"#), ("summary", #"{"bundleId":1}"#), ("summary", #"{"appAppleId":"1"}"#),
            ("summary", #"{"environment":1}"#), ("externalPurchaseToken", #"{"externalPurchaseId":1}"#),
            ("externalPurchaseToken", #"{"tokenCreationDate":"1"}"#), ("externalPurchaseToken", #"{"bundleId":1}"#),
            ("appData", #"{"bundleId":1}"#), ("appData", #"{"signedAppTransactionInfo":1}"#),
        ]

    /// Dates that are no moments between 1970 and 9999.
    private static let dates: [CounterExample] =
        dates(
            "transaction", ClaimsText.transaction,
            ["purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate", "signedDate"])
        + dates(
            "renewal info", ClaimsText.renewalInfo,
            ["gracePeriodExpiresDate", "recentSubscriptionStartDate", "renewalDate"])
        + dates(
            "app transaction", ClaimsText.appTransaction,
            ["receiptCreationDate", "requestDate", "originalPurchaseDate", "preorderDate"])

    private static func dates(_ kind: String, _ claims: [String: String], _ names: [String]) -> [CounterExample] {
        let wrong = [
            "-1", "-0.5", "253402300800000", "1e300", #""2023-11-14T22:13:20Z""#, #""1700000000000""#, "true", "[]",
        ]
        return each(names, wrong).map { name, value in
            .payload(.claimsMalformed, "\(kind): \(name) as \(value)", ClaimsText.object(claims, [name: value]))
        }
    }

    private static let kinds: [CounterExample] = [
        .payload(.claimsUnrecognized, "nothing but a date", #"{"signedDate":1700000000000}"#),
        .payload(
            .claimsUnrecognized, "nothing but a product",
            #"{"signedDate":1700000000000,"productId":"coins","environment":"Sandbox"}"#),
        .payload(
            .claimsUnrecognized, "the claims of a token for Apple's API",
            #"{"iss":"a","iat":1,"exp":2,"aud":"appstoreconnect-v1","bid":"com.example.app","signedDate":1700000000000}"#
        ),
        .payload(
            .claimsUnrecognized, "a name in other letters", #"{"signedDate":1700000000000,"TransactionId":"1"}"#),
    ]

    /// A notification is about one thing.
    private static let parts: [CounterExample] = {
        let names = ["data", "summary", "externalPurchaseToken", "appData"]
        return names.indices.flatMap { first -> [CounterExample] in
            names.indices.filter { $0 > first }.map { second -> CounterExample in
                .payload(
                    .claimsMalformed, "\(names[first]) and \(names[second])",
                    ClaimsText.object(ClaimsText.notification, [names[first]: "{}", names[second]: "{}"]))
            }
        }
    }()
}

/// JSON of a chosen depth or size.
enum BoundedJSON {
    static func nested(levels: Int, open: String = #"{"a":"#, close: String = "}") -> String {
        let content = open == "[" ? "" : "0"
        return String(repeating: open, count: levels) + content + String(repeating: close, count: levels)
    }

    /// A list of so many numbers.
    static func list(of count: Int) -> String {
        "[" + [String](repeating: "0", count: count).joined(separator: ",") + "]"
    }
}
