import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the claims of signed data: their format, their types, and an unknown kind.
enum ClaimsCounterExamples {
    static let all: [CounterExample] = form + types + dates + identifiers + kinds + parts

    private static let form: [CounterExample] = formOfEach + noText + notStrict + tooMuch

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
                ClaimsText.transaction, ["more": BoundedJSON.list(of: 4095 - ClaimsText.transaction.count)])),
        .payload(
            .claimsMalformed, "129 members",
            ClaimsText.object(ClaimsText.transaction, ["more": BoundedJSON.object(of: 129)])),
        .payload(
            .claimsMalformed, "a member name of 65 bytes",
            ClaimsText.object(ClaimsText.transaction, [String(repeating: "n", count: 65): "1"])),
        .payload(
            .claimsMalformed, "a number of 65 digits",
            ClaimsText.object(ClaimsText.transaction, ["more": String(repeating: "1", count: 65)])),
        .payload(
            .claimsMalformed, "a type of 65 letters",
            ClaimsText.object(ClaimsText.transaction, ["type": "\"\(String(repeating: "n", count: 65))\""])),
        .payload(
            .claimsMalformed, "a type that is not ASCII",
            ClaimsText.object(ClaimsText.transaction, ["type": "\"Consumable\u{301}\""])),
    ]

    /// Forms that decoders accept differently and RFC 8259 does not allow; and names that `String` would have to
    /// normalise.
    private static let notStrict: [CounterExample] =
        [
            ("a comma before the closing brace", "1,"), ("two commas", "1,,\"b\":1"), ("a leading zero", "01"),
            ("a plus sign", "+1"), ("a dot at the end of a number", "1."), ("a number without digits", "-"),
            ("an exponent without digits", "1e"), ("NaN", "NaN"), ("Infinity", "-Infinity"), ("hexadecimal", "0x1"),
            ("a literal in capitals", "True"), ("a cut literal", "tru"), ("a comment", "1/* */"),
            ("a list with a comma at its end", "[1,]"), ("a list closed by a brace", "[1}"),
            ("a line break in a text", "\"a\nb\""), ("a zero byte in a text", "\"a\u{0}b\""),
            ("half of a surrogate pair", #""\ud83d""#), ("the other half", #""\ude00""#),
            ("two first halves", #""\ud83d\ud83d""#), ("an escape of three digits", #""\u041""#),
            ("an escape of no hexadecimal digits", #""\u00g1""#), ("an octal escape", #""\101""#),
            ("a space that is not ASCII", "1\u{A0}"), ("a claim twice", #"1,"bundleId":"com.example.other""#),
            ("an unknown claim twice", #"1,"x":1,"x":2"#), ("a claim twice inside", #"{"x":1,"y":2,"x":3}"#),
            ("a second spelling of a claim", #"1,"bundle\u0049d":"com.example.other""#),
            ("a name with an escaped slash", #"1,"a\/b":1"#), ("a name in single quotes", "1,'b':1"),
            ("a name that is not ASCII", "1,\"e\u{301}\":1"), ("such a name inside", "{\"e\u{301}\u{316}\":1}"),
            ("a name without a value", #"1,"b""#), ("a name and no colon", #"1,"b" 1"#),
        ].map { fault, value in
            .payload(.claimsMalformed, "claims: \(fault)", ClaimsText.object(ClaimsText.transaction, ["a": value]))
        } + [
            .payload(
                .claimsMalformed, "claims: two byte order marks",
                "\u{FEFF}\u{FEFF}" + ClaimsText.object(ClaimsText.transaction)),
            .payload(.claimsMalformed, "claims: something behind", ClaimsText.object(ClaimsText.transaction) + ","),
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

    /// The claims that affect a decision, by kind, each with values of wrong types.
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
            ], texts) + each(["quantity", "revocationReason"], numbers)
        + each(["quantity"], ["-1", "18446744073709551616"]) + each(["isUpgraded"], flags)

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

    /// Dates before `distantPast`, which Xcode writes, or after the year 9999, and values that are not numbers.
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
            "-62135769600001", "-62135769600000.5", "253402300800000", "1e300", #""2023-11-14T22:13:20Z""#,
            #""1700000000000""#, "true", "[]",
        ]
        return each(names, wrong).map { name, value in
            .payload(.claimsMalformed, "\(kind): \(name) as \(value)", ClaimsText.object(claims, [name: value]))
        }
    }

    /// What has no transaction or no product is no transaction.
    private static let identifiers: [CounterExample] = ["transactionId", "productId"].flatMap { name in
        [nil, "null", #""""#].map { value in
            .payload(
                .attributeMissing, "a transaction with \(value ?? "no value") as \(name)",
                ClaimsText.object(ClaimsText.transaction, [name: value]))
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

    /// A notification has one subject.
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

    /// An object with a number of members.
    static func object(of count: Int) -> String {
        "{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
    }

    /// A list with a number of numbers.
    static func list(of count: Int) -> String {
        "[" + [String](repeating: "0", count: count).joined(separator: ",") + "]"
    }
}
