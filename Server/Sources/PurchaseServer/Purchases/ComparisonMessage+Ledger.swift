import PurchaseAPI
import PurchaseLedger
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
