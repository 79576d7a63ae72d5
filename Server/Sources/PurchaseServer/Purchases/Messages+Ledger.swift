import Foundation
import LegacyLedger
import PurchaseAPI
import PurchaseVerification

extension SubmissionVerdict {
    init(_ verdict: Verdict) { self.init(rawValue: verdict.rawValue) }
}

extension TransactionMessage.ProductType {
    fileprivate init(_ kind: ProductKind) { self.init(rawValue: kind.rawValue) }
}

extension OrderMessage {
    init(_ order: Order, now: Timestamp) {
        self.init(
            orderID: order.id, customerID: order.customerID, productID: order.productID, quantity: order.quantity,
            metadata: order.metadata.flatMap(Self.metadata), appAccountToken: order.appAccountToken,
            status: Status(rawValue: order.status(at: now).rawValue), createdAt: "\(order.createdAt)",
            expiresAt: "\(order.expiresAt)",
            paidAt: order.paidAt.map { "\($0)" }, fulfilledAt: order.fulfilledAt.map { "\($0)" },
            closedAt: order.closedAt.map { "\($0)" },
            environment: order.environment.map { EnvironmentName(rawValue: $0.name) },
            transactionID: order.transactionID)
    }

    /// Metadata as the ledger keeps it.
    static func metadataText(_ metadata: [String: String]) throws -> String {
        String(decoding: try Wire.json(metadata), as: UTF8.self)
    }

    /// What `metadataText` wrote; `nil` if somebody else wrote into the database.
    private static func metadata(_ text: String) -> [String: String]? {
        do {
            return try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        } catch {
            return nil
        }
    }
}

extension TransactionMessage {
    init(_ purchase: RecordedPurchase) {
        self.init(
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            productID: purchase.productID, productType: ProductType(purchase.productKind),
            quantity: purchase.quantity,
            environment: EnvironmentName(rawValue: purchase.environment.name), customerID: purchase.customerID,
            orderID: purchase.orderID,
            kind: Kind(rawValue: purchase.kind.rawValue), state: State(rawValue: purchase.state.rawValue),
            purchasedAt: "\(purchase.purchasedAt)",
            expiresAt: purchase.expiresAt.map { "\($0)" }, withdrawnAt: purchase.withdrawnAt.map { "\($0)" },
            recordedAt: "\(purchase.recordedAt)", submissionID: purchase.submissionID)
    }
}

extension EntitlementMessage {
    init(_ entitlement: Entitlement, now: Timestamp) {
        self.init(
            productID: entitlement.key.productID, type: TransactionMessage.ProductType(entitlement.productKind),
            environment: EnvironmentName(rawValue: entitlement.key.environment.name),
            state: State(rawValue: entitlement.state(at: now).rawValue),
            balance: entitlement.productKind == .consumable ? entitlement.balance : nil,
            since: "\(entitlement.since)", until: entitlement.until.map { "\($0)" },
            transactionID: entitlement.transactionID, why: Reason(rawValue: entitlement.reason),
            updatedAt: "\(entitlement.updatedAt)")
    }
}

extension ConsumptionMessage {
    init(_ consumption: Consumption) {
        self.init(
            consumptionID: consumption.id, customerID: consumption.customerID, productID: consumption.productID,
            environment: EnvironmentName(rawValue: consumption.environment.name), quantity: consumption.quantity,
            balance: consumption.balance,
            consumedAt: "\(consumption.consumedAt)", replayed: consumption.isReplayed)
    }
}

extension SubmissionMessage {
    init(_ submission: SubmissionRecord) {
        self.init(
            submissionID: submission.id, sequence: submission.sequence, receivedAt: "\(submission.receivedAt)",
            decidedAt: "\(submission.decidedAt)", verdict: SubmissionVerdict(submission.verdict), code: submission.code,
            expected: submission.expected, found: submission.found, replayed: submission.isReplayed,
            customerID: submission.customerID, orderID: submission.orderID, productID: submission.productID,
            transactionID: submission.transactionID, quantity: submission.quantity,
            environment: submission.environment.map(EnvironmentName.init(rawValue:)),
            evidenceKind: submission.evidenceKind,
            evidenceSHA256: submission.evidenceSHA256, keyID: submission.keyID,
            sourceAddress: submission.sourceAddress, hash: submission.hash)
    }
}
