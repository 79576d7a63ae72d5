import PurchaseVerification

/// A contiguous time in which a purchase or a grant gives access, and the reason for its end. A span may be empty
/// (`until` equals `from`): then it only carries the reason. Spans are joined to an `AccessTimeline`.
struct AccessSpan: Sendable, Hashable {
    /// The owner; `nil` if it is held.
    var customer: CustomerNumber?
    var productID: ExactText
    var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    var kind: ProductKind?
    var source: AccessSource
    /// When it begins. Access is given five minutes earlier, because clocks differ.
    var from: Timestamp
    /// When it ends, without tolerance; `nil` if it does not end.
    var until: Timestamp?
    /// The transaction that began last in it; `nil` for a manual grant.
    var transaction: TransactionKey?
    /// The reason why there is no access after it.
    var endReason: NoAccessReason

    /// Creates a span.
    init(
        customer: CustomerNumber?, productID: ExactText, environment: AppStoreEnvironment, kind: ProductKind?,
        source: AccessSource, from: Timestamp, until: Timestamp?, transaction: TransactionKey?,
        endReason: NoAccessReason
    ) {
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.source = source
        self.from = from
        self.until = until
        self.transaction = transaction
        self.endReason = endReason
    }

    /// Whether the span is empty.
    var isEmpty: Bool { until.map { $0 <= from } ?? false }
}

extension Timestamp {
    /// Whether something with this start has started, with the tolerance of starts.
    func isAtOrAfter(startOf start: Timestamp) -> Bool {
        let (early, overflow) = start.millisecondsSince1970.subtractingReportingOverflow(AccessTimeline.startTolerance)
        return overflow || early <= millisecondsSince1970
    }
}
