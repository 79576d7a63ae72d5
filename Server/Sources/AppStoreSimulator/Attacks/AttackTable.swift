import EvidenceMint
import Foundation

/// All attacks, in the order in which they are made. For each kind of evidence, the genuine one comes first.
struct AttackTable: Sendable {
    let evidence: AttackEvidence

    /// One attack, before it is numbered.
    private struct Row {
        let name: String
        let explanation: String
        /// The expected answer, by the number.
        let expectation: @Sendable (Int) -> Attack.Expectation
        /// The evidence or the whole request, around a purchase of this number.
        let bytes: @Sendable (Int) throws -> [UInt8]

        init(
            _ name: String, _ explanation: String, _ expectation: Attack.Expectation = .refused,
            _ bytes: @escaping @Sendable (Int) throws -> [UInt8]
        ) {
            self.init(name, explanation, expectedOf: { _ in expectation }, bytes)
        }

        init(
            _ name: String, _ explanation: String,
            expectedOf expectation: @escaping @Sendable (Int) -> Attack.Expectation,
            _ bytes: @escaping @Sendable (Int) throws -> [UInt8]
        ) {
            (self.name, self.explanation, self.expectation, self.bytes) = (name, explanation, expectation, bytes)
        }
    }

    /// The attacks on a target, by kind of evidence. Each has a purchase of its own.
    func attacks(on target: Attack.Target) -> [(evidence: String, attacks: [Attack])] {
        let evidence = [
            ("app receipt", appReceipts(target)), ("transaction receipt", transactionReceipts(target)),
            ("signed transaction", signedTransactions(target)),
        ]
        switch target {
        case .verifyReceipt:
            return numbered(evidence, target, from: 0) { Self.receiptBody(try $0($1)) }
                + numbered([("request", requests)], target, from: 1000) { try $0($1) }
        case .purchases:
            let ids = self.evidence
            return numbered(evidence, target, from: 5000) {
                Self.purchaseBody(try $0($1), ids.transactionID($1), customerID: "attacker")
            } + numbered([("claim", claims)], target, from: 6000) { try $0($1) }
        case .notifications: return numbered([("notification", notifications)], target, from: 8000) { try $0($1) }
        }
    }

    private func numbered(
        _ kinds: [(String, [Row])], _ target: Attack.Target, from first: Int,
        _ body: @escaping @Sendable (@Sendable (Int) throws -> [UInt8], Int) throws -> [UInt8]
    ) -> [(evidence: String, attacks: [Attack])] {
        var number = first
        return kinds.map { kind, rows in
            let attacks = rows.map { row in
                number += 1
                let own = number
                return Attack(
                    name: row.name, explanation: row.explanation, target: target, expectation: row.expectation(own),
                    body: { try body(row.bytes, own) })
            }
            return (kind, attacks)
        }
    }

    private func appReceipts(_ target: Attack.Target) -> [Row] {
        let evidence = evidence
        var rows = [Row("app-receipt: genuine", "Nothing is wrong.", .accepted) { try evidence.appReceipt($0) }]
        rows += ReceiptFault.allCases.map { fault in
            let expectation = fault == .missingBundleID ? ofAnotherApp(at: target) : .refused
            return Row("app-receipt: \(fault.rawValue)", fault.explanation, expectation) {
                try evidence.appReceipt($0, fault: fault)
            }
        }
        for fault in StoreFault.allCases where target == .verifyReceipt || fault != .otherDevice {
            let truth: @Sendable (Int) -> Attack.Expectation = { number in
                guard target == .verifyReceipt else { return .refused }
                let template = evidence.template(number, fault)
                return .truth(
                    bundleID: template.bundleID ?? "", transactionIDs: template.purchases.compactMap(\.transactionID))
            }
            rows.append(
                Row("app-receipt: \(fault.rawValue)", fault.explanation, expectedOf: truth) {
                    try evidence.appReceipt($0, storeFault: fault)
                })
        }
        return rows + [
            Row("app-receipt: oversized", "The receipt has more than 16 MiB.") {
                try evidence.appReceipt($0) + [UInt8](repeating: 0, count: (16 << 20) + 1)
            },
            Row("app-receipt: deeply-nested", "The receipt has 5,000 nested sequences.") { _ in
                // An indefinite length, as Xcode writes it (X.690, 8.1.3.6): a reader must descend to find the end.
                Array(repeatElement([0x30, 0x80], count: 5000).joined())
                    + Array(repeatElement([0x00, 0x00], count: 5000).joined())
            },
            Row("app-receipt: edited-answer", "An edited answer of verifyReceipt in place of a receipt.") { number in
                let purchase = #"{"product_id":"coins","transaction_id":"\#(evidence.transactionID(number))"}"#
                let receipt = #"{"bundle_id":"\#(evidence.bundleID)","in_app":[\#(purchase)]}"#
                return Array(#"{"status":0,"environment":"Production","receipt":\#(receipt)}"#.utf8)
            },
        ]
    }

    private func transactionReceipts(_ target: Attack.Target) -> [Row] {
        let evidence = evidence
        let versions = TransactionReceiptVersion.allCases.reversed()
        let genuine = versions.map { version in
            Row("transaction-receipt version \(version.rawValue): genuine", "Nothing is wrong.", .accepted) {
                try evidence.transactionReceipt($0, version: version)
            }
        }
        return versions.reduce(genuine) { rows, version in
            rows
                + TransactionReceiptFault.allCases.map { fault in
                    let isOfAnotherApp = fault == .wrongBundleID || fault == .missingBundleID
                    return Row(
                        "transaction-receipt \(version.rawValue): \(fault.rawValue)", fault.explanation,
                        isOfAnotherApp ? ofAnotherApp(at: target) : .refused
                    ) { try evidence.transactionReceipt($0, version: version, fault: fault) }
                }
        }
    }

    private func signedTransactions(_ target: Attack.Target) -> [Row] {
        let evidence = evidence
        let faults = SignedPayloadFault.applicable(to: evidence.signedTransactionTemplate(0)).map { fault in
            let isOfAnotherApp = fault == .wrongBundleID || fault == .missingBundleID
            return Row(
                "signed-transaction: \(fault.rawValue)", fault.explanation,
                isOfAnotherApp ? ofAnotherApp(at: target) : .refused
            ) { Array(try evidence.signedTransaction($0, fault: fault).utf8) }
        }
        // Apple's verifyReceipt accepts no signed data, and a drop-in may.
        guard target == .purchases else { return faults }
        return [
            Row("signed-transaction: genuine", "Nothing is wrong.", .accepted) {
                Array(try evidence.signedTransaction($0).utf8)
            }
        ] + faults
    }

    /// Wrong requests around no evidence, or around a part of one.
    private var requests: [Row] {
        [
            Row("request: not-json", "The request is not JSON.") { _ in Array("receipt-data=MIIT".utf8) },
            Row("request: no-receipt", "The request has no receipt.") { _ in Array("{}".utf8) },
            Row("request: empty-receipt", "The receipt is empty.") { _ in Array(#"{"receipt-data":""}"#.utf8) },
            Row("request: not-base64", "The receipt is not base64.") { _ in Array(#"{"receipt-data":"%%%%"}"#.utf8) },
            Row("request: deeply-nested-json", "The receipt is 100,000 nested arrays.") { _ in
                Self.nestedArrays("receipt-data")
            },
            Row("request: truncated-json", "The request ends in the middle.") { _ in
                Array(#"{"receipt-data":"MIIT"#.utf8)
            },
        ]
    }

    /// Genuine evidence, claimed by another customer than its owner.
    private var claims: [Row] {
        let evidence = evidence
        let first = 7000
        @Sendable func claim(
            _ transaction: Int, product: String = AttackEvidence.productID, by customer: String
        ) throws -> [UInt8] {
            Self.purchaseBody(
                try evidence.appReceipt(first), evidence.transactionID(transaction), productID: product,
                customerID: customer)
        }
        return [
            Row("claim: genuine", "The buyer claims the purchase.", .accepted) { _ in try claim(first, by: "buyer") },
            Row("claim: sent-again", "The buyer claims it again.", .accepted) { _ in try claim(first, by: "buyer") },
            Row("claim: replayed-transaction-id", "Somebody else claims the same transaction.") { _ in
                try claim(first, by: "thief")
            },
            Row("claim: other-product", "A more expensive product is claimed with it.") { _ in
                try claim(first, product: "all-the-coins", by: "buyer")
            },
            Row("claim: invented-transaction-id", "A transaction is claimed that is not in the receipt.") {
                try claim($0, by: "buyer")
            },
        ]
    }

    /// `verifyReceipt` does not know which app asks.
    private func ofAnotherApp(at target: Attack.Target) -> Attack.Expectation {
        target == .purchases ? .refused : .refusedOrNot(bundleID: evidence.bundleID)
    }

    private static func nestedArrays(_ member: String) -> [UInt8] {
        let arrays = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        return Array("{\"\(member)\":\(arrays)}".utf8)
    }

    /// Compact JWS is sent unchanged, all other evidence as base64.
    private static func text(_ evidence: [UInt8]) -> (text: String, isSignedPayload: Bool) {
        if evidence.starts(with: "eyJ".utf8) { return (String(decoding: evidence, as: UTF8.self), true) }
        return (Data(evidence).base64EncodedString(), false)
    }

    private static func receiptBody(_ evidence: [UInt8]) -> [UInt8] {
        ClaimValue.object(["receipt-data": .string(text(evidence).text)]).json
    }

    private static func purchaseBody(
        _ evidence: [UInt8], _ transactionID: String, productID: String = AttackEvidence.productID, customerID: String
    ) -> [UInt8] {
        let (text, isSignedPayload) = text(evidence)
        return ClaimValue.object([
            isSignedPayload ? "signed_transaction" : "receipt_data": .string(text), "product_id": .string(productID),
            "transaction_id": .string(transactionID), "customer_id": .string(customerID),
        ]).json
    }
}

// MARK: Notifications

extension AttackTable {
    /// The attacks on the address for notifications. It answers 400 to what is malformed or provably forged, 404 for an
    /// unknown app, and 503 for an issuer, an algorithm or a header that it does not know, because those may be Apple's
    /// next ones.
    private var notifications: [Row] {
        let evidence = evidence
        // Signed once, so that the same bytes are sent again.
        let genuine = Result { try evidence.notification(9000) }
        return [
            notification("genuine", "Nothing is wrong.", .accepted) { _ in try genuine.get() },
            notification("sent-again", "The same notification is sent again.", .accepted) { _ in try genuine.get() },
            notification("old-under-new-uuid", "An old notification has another UUID.") { _ in
                AttackEvidence.edited(try genuine.get()) {
                    $0.replacing("\"notificationUUID\":\"", with: "\"notificationUUID\":\"0")
                }
            },
            notification("unsigned", "The signature is missing.") { _ in
                let parts = try genuine.get().split(separator: ".", omittingEmptySubsequences: false)
                return parts.prefix(2).joined(separator: ".") + "."
            },
            notification(
                "unknown-algorithm", "The header names an algorithm that may come one day.", .answered([503])
            ) { _ in
                AttackEvidence.edited(try genuine.get(), part: 0) { $0.replacing("\"ES256\"", with: "\"ML-DSA-65\"") }
            },
            notification(
                "unknown-critical-header", "The header has a critical member that may come one day.", .answered([503])
            ) { _ in
                AttackEvidence.edited(try genuine.get(), part: 0) {
                    $0.replacing("{\"alg\"", with: "{\"crit\":[\"next\"],\"next\":1,\"alg\"")
                }
            },
        ]
            + SignedPayloadFault.applicable(to: evidence.notificationTemplate(0)).map { fault in
                notification(fault.rawValue, fault.explanation, Self.expectation(of: fault)) {
                    try evidence.notification($0, fault: fault)
                }
            } + parts
            + [
                notificationRequest("not-json", "The request is not JSON.") { Array("signedPayload=eyJ".utf8) },
                notificationRequest("no-payload", "The request has no notification.") { Array("{}".utf8) },
                notificationRequest("empty-payload", "The notification is empty.") {
                    Array(#"{"signedPayload":""}"#.utf8)
                },
                notificationRequest("truncated-json", "The request ends in the middle.") {
                    Array(#"{"signedPayload":"eyJ"#.utf8)
                },
                notificationRequest("deeply-nested-json", "The notification is 100,000 nested arrays.") {
                    Self.nestedArrays("signedPayload")
                },
            ]
    }

    /// Attacks with genuine data in the wrong place.
    private var parts: [Row] {
        let evidence = evidence
        return [
            notification("swapped-parts", "The nested transaction and renewal info have changed places.") {
                let transaction = evidence.signedTransactionTemplate($0)
                return try evidence.notification(
                    transaction: try evidence.signed(RenewalInfoTemplate(transaction: transaction)),
                    renewalInfo: try evidence.signed(transaction))
            },
            notification("parts-of-another", "The nested transaction is replaced by that of another notification.") {
                let (old, new) = (try evidence.signedTransaction($0), try evidence.signedTransaction($0 + 500))
                return AttackEvidence.edited(try evidence.notification(transaction: old)) {
                    $0.replacing(old, with: new)
                }
            },
            notification("sandbox-as-production", "A notification of production has a transaction of the sandbox.") {
                try evidence.notification(transaction: try evidence.sandboxTransaction($0))
            },
            notification("edited-environment", "A notification of the sandbox is edited to be one of production.") {
                let sandbox = try evidence.notification(
                    transaction: try evidence.sandboxTransaction($0), environment: evidence.sandbox)
                return AttackEvidence.edited(sandbox) {
                    $0.replacing("\"\(evidence.sandbox)\"", with: "\"\(evidence.environment)\"")
                }
            },
            notification(
                "another-app", "A genuine notification of an app that the server does not know.", .answered([404])
            ) { try evidence.of("com.example.another").notification($0) },
            notification("signed-transaction", "A signed transaction is sent as a notification.") {
                try evidence.signedTransaction($0)
            },
        ]
    }

    private static let forged = Attack.Expectation.answered([400])

    private func notification(
        _ name: String, _ explanation: String, _ expectation: Attack.Expectation = Self.forged,
        _ payload: @escaping @Sendable (Int) throws -> String
    ) -> Row {
        Row("notification: \(name)", explanation, expectation) {
            ClaimValue.object(["signedPayload": .string(try payload($0))]).json
        }
    }

    private func notificationRequest(
        _ name: String, _ explanation: String, _ body: @escaping @Sendable () -> [UInt8]
    ) -> Row {
        Row("notification request: \(name)", explanation, Self.forged) { _ in body() }
    }

    private static func expectation(of fault: SignedPayloadFault) -> Attack.Expectation {
        switch fault {
        // The certificates and the header are genuine.
        case .foreignSignature, .flippedSignatureByte, .reusedSignature, .derSignature, .longSignature, .zeroSignature,
            .flippedPayloadByte, .editedClaims, .truncated, .fourthPart, .nestedDataOfAnotherApp:
            forged
        case .wrongBundleID, .missingBundleID, .xcodeEnvironment: .answered([400, 404])
        case .oversized: .answered([400, 413])
        // The signature is genuine, so a form that nobody knows may be Apple's next one.
        case .deeplyNested: .answered([400, 413, 503])
        default: .answered([400, 503])
        }
    }
}
