import EvidenceMint
import Foundation

/// All attacks, in the order in which they are made. For each kind of evidence, the genuine one comes first.
struct AttackTable: Sendable {
    let evidence: AttackEvidence

    /// The attacks on a target, by kind of evidence.
    func attacks(on target: Attack.Target) -> [(evidence: String, attacks: [Attack])] {
        var number =
            switch target {
            case .verifyReceipt: 0
            case .purchases: 5000
            case .notifications: 8000
            }
        func next() -> Int {
            number += 1
            return number
        }
        switch target {
        case .verifyReceipt:
            return [
                ("app receipt", appReceipts(target, next)), ("transaction receipt", transactionReceipts(target, next)),
                ("signed transaction", signedTransactions(target, next)), ("request", requests(target, next)),
            ]
        case .purchases:
            return [
                ("app receipt", appReceipts(target, next)), ("transaction receipt", transactionReceipts(target, next)),
                ("signed transaction", signedTransactions(target, next)), ("claim", claims(next)),
            ]
        case .notifications: return [("notification", notifications(next))]
        }
    }

    private func appReceipts(_ target: Attack.Target, _ next: () -> Int) -> [Attack] {
        let evidence = evidence
        var attacks = [genuine("app-receipt", target, next()) { try evidence.appReceipt($0) }]
        for fault in ReceiptFault.allCases {
            let expectation = fault == .missingBundleID ? ofAnotherApp(at: target) : .refused
            attacks.append(
                attack("app-receipt: \(fault.rawValue)", fault.explanation, target, expectation, next()) {
                    try evidence.appReceipt($0, fault: fault)
                })
        }
        for fault in StoreFault.allCases where target == .verifyReceipt || fault != .otherDevice {
            let number = next()
            let template = evidence.template(number, fault)
            let expectation: Attack.Expectation =
                target == .purchases
                ? .refused
                : .truth(
                    bundleID: template.bundleID ?? "", transactionIDs: template.purchases.compactMap(\.transactionID))
            attacks.append(
                attack("app-receipt: \(fault.rawValue)", fault.explanation, target, expectation, number) {
                    try evidence.appReceipt($0, storeFault: fault)
                })
        }
        attacks.append(
            attack("app-receipt: oversized", "The receipt has more than 16 MiB.", target, .refused, next()) { number in
                try evidence.appReceipt(number) + [UInt8](repeating: 0, count: (16 << 20) + 1)
            })
        attacks.append(
            attack("app-receipt: deeply-nested", "The receipt has 5,000 nested sequences.", target, .refused, next()) {
                _ in
                // An indefinite length, as Xcode writes it (X.690, 8.1.3.6): a reader must descend to find the end.
                Array(repeatElement([0x30, 0x80], count: 5000).joined())
                    + Array(repeatElement([0x00, 0x00], count: 5000).joined())
            })
        attacks.append(
            attack(
                "app-receipt: edited-answer", "An edited answer of verifyReceipt in place of a receipt.", target,
                .refused, next()
            ) { number in
                Array(
                    #"{"status":0,"environment":"Production","receipt":{"bundle_id":"\#(evidence.bundleID)","in_app":"#
                        .utf8)
                    + Array(#"[{"product_id":"coins","transaction_id":"\#(evidence.transactionID(number))"}]}}"#.utf8)
            })
        return attacks
    }

    private func transactionReceipts(_ target: Attack.Target, _ next: () -> Int) -> [Attack] {
        let evidence = evidence
        var attacks: [Attack] = []
        for version in TransactionReceiptVersion.allCases.reversed() {
            attacks.append(
                genuine("transaction-receipt version \(version.rawValue)", target, next()) {
                    try evidence.transactionReceipt($0, version: version)
                })
        }
        for version in TransactionReceiptVersion.allCases.reversed() {
            for fault in TransactionReceiptFault.allCases {
                let isOfAnotherApp = fault == .wrongBundleID || fault == .missingBundleID
                attacks.append(
                    attack(
                        "transaction-receipt \(version.rawValue): \(fault.rawValue)", fault.explanation, target,
                        isOfAnotherApp ? ofAnotherApp(at: target) : .refused, next()
                    ) { try evidence.transactionReceipt($0, version: version, fault: fault) })
            }
        }
        return attacks
    }

    private func signedTransactions(_ target: Attack.Target, _ next: () -> Int) -> [Attack] {
        let evidence = evidence
        var attacks: [Attack] = []
        // Apple's verifyReceipt accepts no signed data, so even genuine signed data must be refused.
        if target == .purchases {
            attacks.append(
                attack("signed-transaction: genuine", "Nothing is wrong.", target, .accepted, next()) {
                    Array(try evidence.signedTransaction($0).utf8)
                })
        }
        for fault in SignedPayloadFault.applicable(to: evidence.signedTransactionTemplate(0)) {
            attacks.append(
                attack("signed-transaction: \(fault.rawValue)", fault.explanation, target, .refused, next()) {
                    Array(try evidence.signedTransaction($0, fault: fault).utf8)
                })
        }
        return attacks
    }

    /// Attacks with a wrong request around genuine evidence.
    private func requests(_ target: Attack.Target, _ next: () -> Int) -> [Attack] {
        let bodies: [(String, String, @Sendable () -> [UInt8])] = [
            ("not-json", "The request is not JSON.", { Array("receipt-data=MIIT".utf8) }),
            ("no-receipt", "The request has no receipt.", { Array("{}".utf8) }),
            ("empty-receipt", "The receipt is empty.", { Array(#"{"receipt-data":""}"#.utf8) }),
            ("not-base64", "The receipt is not base64.", { Array(#"{"receipt-data":"%%%%"}"#.utf8) }),
            (
                "deeply-nested-json", "The receipt is 100,000 nested arrays.",
                {
                    Array(#"{"receipt-data":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
                        + [UInt8](repeating: UInt8(ascii: "]"), count: 100_000) + Array("}".utf8)
                }
            ),
            ("truncated-json", "The request ends in the middle.", { Array(#"{"receipt-data":"MIIT"#.utf8) }),
        ]
        return bodies.map { name, explanation, body in
            Attack(
                name: "request: \(name)", explanation: explanation, target: target, expectation: .refused,
                body: { body() })
        }
    }

    /// Genuine evidence, claimed by another customer than its owner.
    private func claims(_ next: () -> Int) -> [Attack] {
        let evidence = evidence
        let first = next()
        let receipt: @Sendable () throws -> [UInt8] = { try evidence.appReceipt(first) }
        func claim(
            _ name: String, _ explanation: String, _ expectation: Attack.Expectation, transaction: Int,
            product: String = AttackEvidence.productID, customer: String
        ) -> Attack {
            Attack(
                name: "claim: \(name)", explanation: explanation, target: .purchases, expectation: expectation,
                body: {
                    Self.purchaseBody(
                        try receipt(), transactionID: evidence.transactionID(transaction), productID: product,
                        customerID: customer)
                })
        }
        return [
            claim("genuine", "The buyer claims the purchase.", .accepted, transaction: first, customer: "buyer"),
            claim("sent-again", "The buyer claims it again.", .accepted, transaction: first, customer: "buyer"),
            claim(
                "replayed-transaction-id", "Somebody else claims the same transaction.", .refused, transaction: first,
                customer: "thief"),
            claim(
                "other-product", "A more expensive product is claimed with it.", .refused, transaction: first,
                product: "all-the-coins", customer: "buyer"),
            claim(
                "invented-transaction-id", "A transaction is claimed that is not in the receipt.", .refused,
                transaction: next(), customer: "buyer"),
        ]
    }

    /// `verifyReceipt` does not know which app asks.
    private func ofAnotherApp(at target: Attack.Target) -> Attack.Expectation {
        target == .purchases ? .refused : .refusedOrNot(bundleID: evidence.bundleID)
    }

    private func genuine(
        _ kind: String, _ target: Attack.Target, _ number: Int, _ bytes: @escaping @Sendable (Int) throws -> [UInt8]
    ) -> Attack {
        attack("\(kind): genuine", "Nothing is wrong.", target, .accepted, number, bytes)
    }

    private func attack(
        _ name: String, _ explanation: String, _ target: Attack.Target, _ expectation: Attack.Expectation,
        _ number: Int,
        _ bytes: @escaping @Sendable (Int) throws -> [UInt8]
    ) -> Attack {
        let transactionID = evidence.transactionID(number)
        return Attack(name: name, explanation: explanation, target: target, expectation: expectation) {
            let evidence = try bytes(number)
            switch target {
            case .verifyReceipt: return Self.receiptBody(evidence)
            case .purchases, .notifications:
                return Self.purchaseBody(
                    evidence, transactionID: transactionID, productID: AttackEvidence.productID, customerID: "attacker")
            }
        }
    }

    /// Compact JWS is sent unchanged, all other evidence as base64.
    private static func text(_ evidence: [UInt8]) -> (text: String, isSignedPayload: Bool) {
        if evidence.starts(with: "eyJ".utf8) { return (String(decoding: evidence, as: UTF8.self), true) }
        return (Data(evidence).base64EncodedString(), false)
    }

    private static func receiptBody(_ evidence: [UInt8]) -> [UInt8] {
        ClaimValue.object([Claim("receipt-data", .string(text(evidence).text))]).json
    }

    private static func purchaseBody(
        _ evidence: [UInt8], transactionID: String, productID: String, customerID: String
    ) -> [UInt8] {
        let (text, isSignedPayload) = text(evidence)
        return ClaimValue.object([
            Claim(isSignedPayload ? "signed_transaction" : "receipt_data", .string(text)),
            Claim("product_id", .string(productID)), Claim("transaction_id", .string(transactionID)),
            Claim("customer_id", .string(customerID)),
        ]).json
    }
}
