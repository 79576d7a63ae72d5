import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Genuine evidence that a policy refuses, for each kind that can have the fact.
enum PolicyCounterExamples {
    static let all: [CounterExample] = applications + environments + freshness + transactions + seen + devices

    private static let transactions: [CounterExample] =
        transactions(of: "app receipt", appReceipt) + transactions(of: "transaction receipt", transactionReceipt)
        + transactions(of: "signed transaction", signedTransaction) + transactions(of: "notification", notification)
        + withoutTransactions

    private typealias Evidence = @Sendable () throws -> [UInt8]

    private static let appReceipt: Evidence = {
        var template = MintedWorld.receipt()
        template.purchases = [MintedWorld.subscription()]
        return try MintedWorld.mint(template)
    }
    private static let transactionReceipt: Evidence = {
        try MintedWorld.mint(MintedWorld.transactionReceipt(), .two)
    }
    private static let signedTransaction: Evidence = { try MintedWorld.mint(MintedWorld.transaction()) }
    private static let renewalInfo: Evidence = { try MintedWorld.mint(MintedWorld.renewalInfo()) }
    private static let appTransaction: Evidence = { try MintedWorld.mint(MintedWorld.appTransaction()) }
    private static let notification: Evidence = { try MintedWorld.mint(MintedWorld.notification()) }

    private static let kinds: [(String, Evidence)] = [
        ("app receipt", { try MintedWorld.mint() }), ("transaction receipt", transactionReceipt),
        ("signed transaction", signedTransaction), ("renewal info", renewalInfo), ("app transaction", appTransaction),
        ("notification", notification),
    ]

    private static func row(
        _ code: ReasonCode, _ fault: String, _ policy: any PurchasePolicy, _ make: @escaping Evidence
    ) -> CounterExample {
        // Includes the root of app receipts, because app receipts are among the kinds.
        .evidence(code, fault, policies: [policy], make)
    }

    private static let applications: [CounterExample] = applicationsOfEach + otherApplications

    private static let applicationsOfEach: [CounterExample] =
        kinds.filter { $0.0 != "renewal info" }.map { name, make -> CounterExample in
            row(.bundleIDMismatch, "\(name) of another app", BundleIDPolicy("com.example.other"), make)
        }

    private static let otherApplications: [CounterExample] = [
        row(
            .attributeMissing, "renewal info, which names no app", BundleIDPolicy("com.example.app"), renewalInfo),
        row(
            .attributeMissing, "a signed transaction, which names no version", ApplicationVersionPolicy("7"),
            signedTransaction),
        row(
            .attributeMissing, "renewal info, which names no version", ApplicationVersionPolicy("7"), renewalInfo),
        row(
            .applicationVersionMismatch, "transaction receipt of another version", ApplicationVersionPolicy("8"),
            transactionReceipt),
        row(
            .applicationVersionMismatch, "app transaction of another version", ApplicationVersionPolicy("8"),
            appTransaction),
        row(
            .applicationVersionMismatch, "notification of another version", ApplicationVersionPolicy("8"),
            notification),
        row(.appAppleIDMismatch, "app receipt of another number", AppAppleIDPolicy(42)) {
            var template = AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: MintedWorld.moment)
            template.adamID = 1_234_567_890
            return try MintedWorld.mint(template)
        },
        row(.appAppleIDMismatch, "transaction receipt of another number", AppAppleIDPolicy(42)) {
            try MintedWorld.mint(MintedWorld.transactionReceipt(environment: "Production"), .four)
        },
        row(.appAppleIDMismatch, "app transaction of another number", AppAppleIDPolicy(42)) {
            try MintedWorld.mint(MintedWorld.appTransaction(environment: "Production"))
        },
        row(.appAppleIDMismatch, "notification of another number", AppAppleIDPolicy(42)) {
            try MintedWorld.mint(MintedWorld.testNotification(environment: "Production"))
        },
        row(.attributeMissing, "production app transaction without a number", AppAppleIDPolicy(42)) {
            var template = MintedWorld.appTransaction(environment: "Production")
            template.appAppleID = nil
            return try MintedWorld.mint(template)
        },
        row(.attributeMissing, "production transaction receipt without a number", AppAppleIDPolicy(42)) {
            var template = MintedWorld.transactionReceipt(environment: "Production")
            template.appItemID = nil
            return try MintedWorld.mint(template, .three)
        },
        row(.attributeMissing, "production notification without a number", AppAppleIDPolicy(42)) {
            var template = MintedWorld.testNotification(environment: "Production")
            template.data?.appAppleID = nil
            return try MintedWorld.mint(template)
        },
    ]

    private static let environments: [CounterExample] = environmentsOfEach + otherEnvironments

    private static let environmentsOfEach: [CounterExample] =
        kinds.map { name, make -> CounterExample in
            row(
                .environmentNotAccepted, "\(name) of the sandbox where production is wanted",
                EnvironmentPolicy(accepting: [.production]), make)
        }

    private static let otherEnvironments: [CounterExample] = [
        row(
            .attributeMissing, "an app transaction of no environment where one is wanted",
            EnvironmentPolicy(accepting: [.production])
        ) { try HandmadeJWS(ClaimsText.object(ClaimsText.appTransaction, ["receiptType": nil])).bytes() },
        row(
            .attributeMissing, "a notification of no environment where one is wanted",
            EnvironmentPolicy(accepting: [.production])
        ) { try HandmadeJWS(ClaimsText.object(ClaimsText.notification)).bytes() },
        row(
            .environmentNotAccepted, "a sandbox transaction receipt with its environment taken off",
            EnvironmentPolicy(accepting: [.production])
        ) {
            var receipt = try HandmadeTransactionReceipt(.three)
            receipt.unsigned = ""
            return try receipt.bytes()
        },
        row(
            .environmentNotAccepted, "a sandbox transaction receipt with Production written beside it",
            EnvironmentPolicy(accepting: [.production])
        ) {
            var receipt = try HandmadeTransactionReceipt(.two)
            receipt.unsigned = "\"environment\" = \"Production\";"
            return try receipt.bytes()
        },
        row(
            .environmentNotAccepted, "a token of the sandbox where production is wanted",
            EnvironmentPolicy(accepting: [.production])
        ) {
            let token = #"{"externalPurchaseId":"SANDBOX_1","bundleId":"com.example.app"}"#
            return try HandmadeJWS(ClaimsText.object(ClaimsText.notification, ["externalPurchaseToken": token]))
                .bytes()
        },
    ]

    private static func moment(_ seconds: Double) -> AppStoreTime {
        AppStoreTime(MintedWorld.moment.addingTimeInterval(seconds))
    }

    private static let freshness: [CounterExample] = freshnessOfEach

    private static let freshnessOfEach: [CounterExample] =
        kinds.flatMap { name, make -> [CounterExample] in
            [
                row(
                    .evidenceNotFresh, "\(name) a millisecond too old",
                    FreshnessPolicy(at: moment(60), limit: 59_999), make),
                row(
                    .evidenceNotFresh, "\(name) from more than five minutes ahead",
                    FreshnessPolicy(at: moment(-301), limit: 60_000), make),
                row(
                    .evidenceNotFresh, "\(name) at the beginning of time",
                    FreshnessPolicy(at: AppStoreTime(millisecondsSince1970: .min), limit: .max), make),
            ]
        }

    /// The subscription, and one fact of it that a client states differently.
    private static func transactions(of kind: String, _ make: @escaping Evidence) -> [CounterExample] {
        let right = TransactionFacts(
            transactionID: "2000000000000004", originalTransactionID: "2000000000000003",
            productID: "com.example.app.monthly", quantity: 1, purchaseDate: moment(0))
        let changes: [(String, (inout TransactionFacts) -> Void)] = [
            ("transaction id", { $0.transactionID = "2000000000000003" }),
            ("original transaction id", { $0.originalTransactionID = "2000000000000004" }),
            ("product id", { $0.productID = "com.example.app.yearly" }), ("quantity", { $0.quantity = 2 }),
            ("purchase date", { $0.purchaseDate = moment(1) }),
        ]
        return changes.map { name, change -> CounterExample in
            var claimed = right
            change(&claimed)
            return row(.transactionMismatch, "\(kind) of another \(name)", TransactionPolicy(claimed), make)
        }
    }

    private static let withoutTransactions: [CounterExample] = [
        row(.transactionMismatch, "renewal info, which proves no transaction", any("2000000000000004"), renewalInfo),
        row(
            .transactionMismatch, "an app transaction, which proves no purchase", any("2000000000000004"),
            appTransaction),
        row(.transactionMismatch, "an app receipt of other transactions", any("2000000000000009")) {
            try MintedWorld.mint()
        },
    ]

    private static func any(_ transactionID: String) -> TransactionPolicy {
        TransactionPolicy(TransactionFacts(transactionID: transactionID))
    }

    private static let seen: [CounterExample] = [
        ("app receipt", appReceipt), ("transaction receipt", transactionReceipt),
        ("signed transaction", signedTransaction), ("notification", notification),
    ].map { name, make -> CounterExample in
        row(
            .transactionSeenBefore, "\(name) of a transaction that was seen before",
            UnseenTransactionPolicy { $0 == "2000000000000004" }, make)
    }

    private static let otherDevice = DeviceHashPolicy(DeviceIdentifier(bytes: [UInt8](repeating: 7, count: 16)))
    private static let networkAddress = DeviceHashPolicy(DeviceIdentifier(bytes: [1, 2, 3, 4, 5, 6]))
    private static let rightDevice = DeviceHashPolicy(DeviceIdentifier(identifierForVendor: MintedWorld.device))

    private static let devices: [CounterExample] = devicesOfEach + otherDevices

    private static let devicesOfEach: [CounterExample] =
        kinds.filter { $0.0 != "notification" }.flatMap { name, make -> [CounterExample] in
            [
                row(.deviceHashMismatch, "\(name) of another device", otherDevice, make),
                row(.deviceHashMismatch, "\(name) where the device is a Mac", networkAddress, make),
            ]
        }

    private static let otherDevices: [CounterExample] = [
        row(.attributeMissing, "a notification, which is for no device", rightDevice, notification),
        row(.attributeMissing, "a transaction receipt that names no device", rightDevice) {
            var template = MintedWorld.transactionReceipt()
            template.uniqueIdentifier = nil
            template.uniqueVendorIdentifier = nil
            return try MintedWorld.mint(template, .three)
        },
        row(.attributeMissing, "a signed transaction made for no device", rightDevice) {
            var template = MintedWorld.transaction()
            template.deviceVerification = nil
            return try MintedWorld.mint(template)
        },
        row(.attributeMissing, "an app transaction without a nonce", rightDevice) {
            var template = MintedWorld.appTransaction()
            let value = template.deviceVerification?.value ?? ""
            template.deviceVerification = nil
            template.extra = [Claim("deviceVerification", .string(value))]
            return try MintedWorld.mint(template)
        },
        row(.attributeMissing, "an app transaction whose device hash is no base64", rightDevice) {
            var template = MintedWorld.appTransaction()
            template.deviceVerification?.value = "*"
            return try MintedWorld.mint(template)
        },
        row(.deviceHashMismatch, "an app transaction whose device hash is empty", rightDevice) {
            var template = MintedWorld.appTransaction()
            template.deviceVerification?.value = ""
            return try MintedWorld.mint(template)
        },
        row(.deviceHashMismatch, "an app transaction with the nonce of another", rightDevice) {
            var template = MintedWorld.appTransaction()
            template.deviceVerification?.nonce = MintedWorld.device
            return try MintedWorld.mint(template)
        },
    ]
}
