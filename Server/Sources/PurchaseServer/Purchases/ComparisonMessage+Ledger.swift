package import PurchaseAPI
package import PurchaseLedger
import PurchaseVerification

extension ForeignAnswer {
    /// Another system's answer as it was sent.
    init(_ request: ComparisonRequest, of app: RegisteredApp) throws(Problem) {
        let subject: Subject =
            request.entitlement.map { .entitlement($0) } ?? .product(request.productID ?? "")
        self.init(customerID: request.customerID, subject, isActive: request.active)
        if let until = request.until {
            end = until == ComparisonRequest.unlimited ? .unlimited : .at(try Self.time(until, "until"))
        }
        environment = try request.environment.map { name throws(Problem) in try name.known(to: app) }
        moment = try request.asOf.map { time throws(Problem) in try Self.time(time, "as_of") }
        transactionID = request.transactionID
    }

    private static func time(_ text: String, _ name: String) throws(Problem) -> Timestamp {
        guard text.utf8.count <= 64, let time = Timestamp(text) else {
            let or = name == "until" ? ", or \(ComparisonRequest.unlimited)" : ""
            throw Problem(
                Rejection(.fieldMalformed, expected: "\(name): a time such as 2026-11-21T10:00:00Z\(or)"))
        }
        return time
    }
}

extension ComparisonMessage {
    package init(_ comparison: Comparison) {
        let theirs = comparison.theirs
        var end: String?
        switch theirs.end {
        case .unstated: break
        case .unlimited: end = ComparisonRequest.unlimited
        case .at(let time): end = "\(time)"
        }
        var ours = Access(active: comparison.ours?.state == .active, until: comparison.ours?.until.map { "\($0)" })
        if let entitlement = comparison.ours {
            ours.state = entitlement.state.rawValue
            ours.reason = entitlement.reason?.rawValue
            ours.productID = entitlement.productID
            ours.environment = entitlement.environment.name
            ours.transactionID = entitlement.transactionID
            if entitlement.isAssumed { ours.assumed = true }
        }
        self.init(
            customerID: theirs.customerID, agrees: comparison.difference == nil,
            theirs: Access(active: comparison.isTheirsActive, until: end), ours: ours)
        switch theirs.subject {
        case .product(let id): productID = id
        case .entitlement(let name): entitlement = name
        }
        guard let difference = comparison.difference else { return }
        code = difference.cause.rawValue
        right = difference.cause.right.rawValue
        rule = "\(difference.rule)"
        text = difference.sentence
        evidence = difference.evidence.map {
            Evidence(
                environment: $0.environment.name, transactionID: $0.transactionID,
                originalTransactionID: $0.originalTransactionID, productID: $0.productID,
                entryIDs: $0.entryIDs.map(\.text))
        }
    }
}
