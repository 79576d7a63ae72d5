public import PurchaseVerification

/// A contiguous time in which a product gives access, and the reason for its end.
///
/// Access at a time is read with one look-up by customer, product and time. Consecutive periods are one span, so a subscription
/// of ten years is one row. A span may be empty (`until` equals `from`): then it only carries the reason.
public struct AccessSpan: Sendable, Hashable {
    /// The owner; `nil` if it is held.
    public var customer: CustomerNumber?
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    public var kind: ProductKind?
    public var source: AccessSource
    /// When it begins. Access is given five minutes earlier, because clocks differ.
    public var from: Timestamp
    /// When it ends, without tolerance; `nil` if it does not end.
    public var until: Timestamp?
    /// The transaction that began last in it; `nil` for a manual grant.
    public var transaction: TransactionKey?
    /// The reason why there is no access after it.
    public var endReason: NoAccessReason

    /// Creates a span.
    public init(
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

    /// How much earlier access begins, in milliseconds. Clocks of devices, of Apple and of the server differ.
    public static let startTolerance: Int64 = 300_000

    /// Whether the span is empty.
    public var isEmpty: Bool { until.map { $0 <= from } ?? false }

    /// Whether it gives access at a time.
    public func contains(_ moment: Timestamp) -> Bool {
        customer != nil && !isEmpty && hasBegun(at: moment) && (until.map { moment < $0 } ?? true)
    }

    /// Whether it has begun, with the tolerance.
    public func hasBegun(at moment: Timestamp) -> Bool { moment.isAtOrAfter(startOf: from) }
}

extension Timestamp {
    /// Whether something with this start has started, with the tolerance of starts.
    func isAtOrAfter(startOf start: Timestamp) -> Bool {
        let (early, overflow) = start.millisecondsSince1970.subtractingReportingOverflow(AccessSpan.startTolerance)
        return overflow || early <= millisecondsSince1970
    }
}
