package import EvidenceMint
package import Foundation
package import PurchaseLedger
package import PurchaseVerification

/// The shop of the benchmarks: one app that sells a consumable, the evidence of its purchases, and their claims.
package enum Shop {
    package static let moment = Date(timeIntervalSince1970: 1_700_000_000)
    package static let product = "com.example.app.coins"
    private static let bundleID = "com.example.app"

    package static var app: RegisteredApp {
        var app = RegisteredApp(id: "example", bundleIDs: [bundleID])
        app.products = [product: RegisteredProduct(kind: .consumable)]
        return app
    }

    package static func anchors(_ authority: AppStoreAuthority) throws -> [TrustAnchor] {
        try [authority.receipts.root, authority.signedPayload.root].map { try TrustAnchor(certificate: $0.certificate) }
    }

    /// Opens a ledger, and creates its schema if it is missing. Its time is a minute after the purchases, unless there
    /// is a clock.
    package static func open(
        _ database: any LedgerDatabase, _ authority: AppStoreAuthority, entryKey: EntryKey?,
        clock: @escaping @Sendable () -> AppStoreTime = { AppStoreTime(moment.addingTimeInterval(60)) }
    ) async throws -> PurchaseLedger {
        try await LedgerMigrations.migrate(database, now: clock().millisecondsSince1970)
        return try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: try anchors(authority)), apps: [app], clock: clock,
            entryKey: entryKey)
    }

    package static func purchase(_ transactionID: String) -> PurchaseTemplate {
        .consumable(productID: product, transactionID: transactionID, purchaseDate: moment)
    }

    package static func signedTransaction(_ transactionID: String, _ authority: AppStoreAuthority) throws -> [UInt8] {
        let template = SignedTransactionTemplate(purchase: purchase(transactionID), bundleID: bundleID)
        return Array(try SignedPayloadEncoder(authority: authority).encode(template).utf8)
    }

    package static func appReceipt(_ transactionID: String, _ authority: AppStoreAuthority) throws -> [UInt8] {
        let template = AppReceiptTemplate.sandbox(
            bundleID: bundleID, creationDate: moment, purchases: [purchase(transactionID)])
        return Array(Data(try AppReceiptEncoder(authority: authority.receipts).encode(template)).base64EncodedData())
    }

    package static func claim(_ transactionID: String, by customer: String, _ evidence: [UInt8]) -> PurchaseSubmission {
        var submission = PurchaseSubmission(app: "example")
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        submission.claim.productID = product
        submission.claim.transactionID = transactionID
        submission.claim.customerID = customer
        submission.evidence = evidence
        return submission
    }

    /// Runs the body for each number below a count, in as many tasks as there are clients. The body also gets the
    /// client.
    package static func concurrently<Value: Sendable>(
        _ clients: Int, count: Int, _ body: @escaping @Sendable (Int, _ client: Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: [Value].self) { group in
            for client in 0..<clients {
                group.addTask {
                    var values: [Value] = []
                    for number in stride(from: client, to: count, by: clients) {
                        values.append(try await body(number, client))
                    }
                    return values
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
