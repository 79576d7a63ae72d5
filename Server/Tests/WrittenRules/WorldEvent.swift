/// One event of a small world: two customers, and two products of which each is sold as the start of a subscription of
/// its own.
///
/// A subscription that starts with a product has three transactions: the purchase (days 0 to 30), its renewal, which is
/// charged early (days 28 to 60), and an upgrade to the other product (days 15 to 45).
public struct WorldEvent: Sendable, Hashable {
    public let kind: Kind
    /// The product with which the subscription starts; of `assigned` the token of that product.
    public let product: Int
    /// The customer of an act, of `merged` the one who is merged into the other; 0 for evidence.
    public let customer: Int

    /// Creates an event.
    public init(_ kind: Kind, product: Int, customer: Int) {
        self.kind = kind
        self.product = product
        self.customer = customer
    }

    /// The kinds of events. Those before `claimed` are signed evidence that arrives without a claim.
    public enum Kind: Int, Sendable, CaseIterable {
        /// The purchase, signed when it was made.
        case bought
        /// The purchase, signed a day later, with the account token of its product.
        case named
        /// The renewal, with the account token of the other product.
        case renewed
        /// The renewal, refunded on day 29.
        case renewalRefunded
        /// The purchase, refunded on day 10.
        case refunded
        /// The purchase, signed without a refund on day 22.
        case reversed
        /// The upgrade.
        case upgraded
        /// The purchase, signed on day 15 with the statement that the customer upgraded.
        case flagged
        /// The upgrade, refunded on day 20.
        case upgradeRefunded
        /// The purchase in a receipt, with a cancellation by an upgrade on day 15.
        case cancelled
        /// A notification, signed on day 30, with the status of a grace period and without its end.
        case graced
        /// A customer claims the purchase with `bought`.
        case claimed
        /// A customer claims the renewal with `renewed`.
        case renewalClaimed
        /// The account token of the product becomes a customer's.
        case assigned
        /// An operator transfers the subscription, naming the purchase.
        case moved
        /// A customer is merged into the other one.
        case merged

        /// Whether it is evidence without a claim.
        public var isEvidence: Bool { rawValue < Kind.claimed.rawValue }
    }

    /// Every event: eleven of evidence for each product, four kinds of acts for each product and customer, and two
    /// merges.
    public static let all: [WorldEvent] = Kind.allCases.flatMap { kind -> [WorldEvent] in
        if kind == .merged { return [0, 1].map { WorldEvent(kind, product: 0, customer: $0) } }
        let customers = kind.isEvidence ? [0] : [0, 1]
        return [0, 1].flatMap { product in customers.map { WorldEvent(kind, product: product, customer: $0) } }
    }

    /// The same event with the products or the customers exchanged.
    public func exchanged(products: Bool, customers: Bool) -> WorldEvent {
        WorldEvent(
            kind, product: products && kind != .merged ? 1 - product : product,
            customer: customers && !kind.isEvidence ? 1 - customer : customer)
    }
}

extension WorldEvent: CustomStringConvertible {
    public var description: String {
        let product = kind == .merged ? "" : " \(["P", "Q"][product])"
        return "\(kind)\(product)\(kind.isEvidence ? "" : " \(["A", "B"][customer])")"
    }
}
