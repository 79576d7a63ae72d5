import PurchaseLedger

/// What a customer may use of one product, in a form that the ledger's answers and the pure rules share.
struct NewsAnswer: Equatable, CustomStringConvertible {
    let reason: String?
    let until: Timestamp?
    let balance: Int64
    let shortfall: Int64
    let transactionID: String?

    init(_ entitlement: Entitlement) {
        reason = entitlement.reason?.rawValue
        until = entitlement.until
        (balance, shortfall) = (entitlement.balance, entitlement.shortfall)
        transactionID = entitlement.productKind == .consumable ? nil : entitlement.transactionID
    }

    init(_ access: ProductAccess) {
        reason = (access.isInGrace ? .inGrace : access.denial)?.rawValue
        until = access.until
        (balance, shortfall) = (access.balance, access.shortfall)
        transactionID = access.kind == .consumable ? nil : access.transaction?.transactionID.string
    }

    var isActive: Bool { reason == nil || reason == "in_grace" }

    var description: String {
        """
        \(reason ?? "active") until \(until.map { "\($0)" } ?? "ever") by \(transactionID ?? "none"), \
        \(balance) left, \(shortfall) short
        """
    }
}
