import PurchaseVerification

/// The merge of transaction facts (docs/ledger.md, "The merge"). Each field has its own rule, and each rule takes the
/// maximum of a total order, so the order and the number of arrivals do not matter.
extension ObservedTransaction {
    /// The facts of a single statement.
    public convenience init(_ statement: TransactionStatement) {
        self.init(key: statement.key, fields: TransactionFields(statement))
    }

    /// Merges these facts with others of the same transaction.
    ///
    /// - Returns: `self` if the others add nothing, or are about another transaction.
    public func merged(with other: ObservedTransaction) -> ObservedTransaction {
        guard self !== other, key == other.key else { return self }
        let merged = fields.merged(with: other.fields)
        return merged == fields ? self : ObservedTransaction(key: key, fields: merged)
    }

    /// Merges these facts with one more statement.
    public func merged(with statement: TransactionStatement) -> ObservedTransaction {
        merged(with: ObservedTransaction(statement))
    }
}

extension TransactionFields {
    /// The fields of a single statement.
    package init(_ statement: TransactionStatement) {
        let witness = Witness(source: statement.source, stamp: statement.stamp)
        func field<Value>(_ value: Value?) -> Witnessed<Value>? { value.map { Witnessed(value: $0, witness: witness) } }
        bundleID = field(statement.bundleID)
        originalTransactionID = field(statement.originalTransactionID)
        productID = field(statement.productID)
        kind = field(statement.kind)
        subscriptionGroupID = field(statement.subscriptionGroupID)
        purchaseDate = field(statement.purchaseDate)
        originalPurchaseDate = field(statement.originalPurchaseDate)
        quantity = field(statement.quantity)
        lineItemID = field(statement.lineItemID)
        ownershipType = field(statement.ownershipType)
        price = field(statement.price)
        storefront = field(statement.storefront)
        offer = field(statement.offer)
        reason = field(statement.reason)
        appTransactionID = field(statement.appTransactionID)
        productNumber = field(statement.productNumber)
        otherClaims = field(statement.otherClaims.map(CanonicalBytes.init(bytes:)))
        firstEnd = statement.end
        guard statement.source == .signedData else {
            receiptEnd = statement.end
            (cancellation, lastWithdrawal) = (statement.cancellation, statement.cancellation)
            if statement.isUpgraded { upgrade = cancellation.map { StampedUpgrade(earliest: $0, newest: $0) } }
            return
        }
        signedEnd = field(statement.end)
        revocation = StampedRevocation(stamp: statement.stamp, revocation: statement.revocation)
        upgrade = statement.isUpgraded ? StampedUpgrade(earliest: statement.stamp, newest: statement.stamp) : nil
        accountToken = statement.accountToken.map { StampedToken(stamp: statement.stamp, token: $0) }
        seats = statement.seats.map { StampedSeats(stamp: statement.stamp, seats: $0) }
        lastWithdrawal = currentWithdrawalDate
    }

    package func merged(with other: TransactionFields) -> TransactionFields {
        var merged = self
        merged.bundleID = Self.better(bundleID, other.bundleID)
        merged.originalTransactionID = Self.better(originalTransactionID, other.originalTransactionID)
        merged.productID = Self.better(productID, other.productID)
        merged.kind = Self.better(kind, other.kind)
        merged.subscriptionGroupID = Self.better(subscriptionGroupID, other.subscriptionGroupID)
        merged.purchaseDate = Self.better(purchaseDate, other.purchaseDate)
        merged.originalPurchaseDate = Self.better(originalPurchaseDate, other.originalPurchaseDate)
        merged.quantity = Self.better(quantity, other.quantity)
        merged.lineItemID = Self.better(lineItemID, other.lineItemID)
        merged.ownershipType = Self.better(ownershipType, other.ownershipType)
        merged.price = Self.better(price, other.price)
        merged.storefront = Self.better(storefront, other.storefront)
        merged.offer = Self.better(offer, other.offer)
        merged.reason = Self.better(reason, other.reason)
        merged.appTransactionID = Self.better(appTransactionID, other.appTransactionID)
        merged.productNumber = Self.better(productNumber, other.productNumber)
        merged.otherClaims = Self.better(otherClaims, other.otherClaims)
        merged.receiptEnd = Self.one(receiptEnd, other.receiptEnd, max)
        merged.signedEnd = Self.one(signedEnd, other.signedEnd) { left, right in
            (left.witness, left.value) < (right.witness, right.value) ? right : left
        }
        merged.firstEnd = Self.one(firstEnd, other.firstEnd, min)
        merged.revocation = Self.one(revocation, other.revocation, StampedRevocation.newer)
        merged.cancellation = Self.one(cancellation, other.cancellation, max)
        merged.lastWithdrawal = Self.one(lastWithdrawal, other.lastWithdrawal, max)
        merged.upgrade = StampedUpgrade.merged([self, other])
        merged.accountToken = Self.one(accountToken, other.accountToken) { left, right in
            (left.stamp, left.token) < (right.stamp, right.token) ? right : left
        }
        merged.seats = Self.one(seats, other.seats) { left, right in
            guard left.stamp == right.stamp else { return left.stamp < right.stamp ? right : left }
            return left.seats.canonicalBytes.lexicographicallyPrecedes(right.seats.canonicalBytes) ? right : left
        }
        return merged
    }

    /// The better witness; of equal ones, the one with the greater canonical bytes.
    private static func better<Value>(_ left: Witnessed<Value>?, _ right: Witnessed<Value>?) -> Witnessed<Value>? {
        one(left, right) { left, right in
            guard left.witness == right.witness else { return left.witness < right.witness ? right : left }
            guard left.value != right.value else { return left }
            return left.value.canonicalBytes.lexicographicallyPrecedes(right.value.canonicalBytes) ? right : left
        }
    }

    private static func one<Value>(_ left: Value?, _ right: Value?, _ choose: (Value, Value) -> Value) -> Value? {
        guard let left else { return right }
        guard let right else { return left }
        return choose(left, right)
    }
}

extension StampedUpgrade {
    /// Each stamp for itself. Facts without any flag state one stamp without it: that of their newest signed
    /// transaction.
    static func merged(_ fields: [TransactionFields]) -> StampedUpgrade? {
        let stated = fields.compactMap(\.upgrade)
        guard let earliest = stated.map(\.earliest).min(), let newest = stated.map(\.newest).max() else { return nil }
        let without = fields.compactMap { $0.upgrade.map(\.newestWithout) ?? $0.revocation?.stamp }
        return StampedUpgrade(earliest: earliest, newest: newest, newestWithout: without.max())
    }
}

extension StampedRevocation {
    /// The later stamp; if equal, revoked before not revoked, then the greater percentage, then the greater bytes.
    static func newer(_ left: StampedRevocation, _ right: StampedRevocation) -> StampedRevocation {
        guard left.stamp == right.stamp else { return left.stamp < right.stamp ? right : left }
        guard let leftRevocation = left.revocation else { return right }
        guard let rightRevocation = right.revocation else { return left }
        let (leftShare, rightShare) = (leftRevocation.share, rightRevocation.share)
        guard leftShare == rightShare else { return leftShare < rightShare ? right : left }
        return leftRevocation.canonicalBytes.lexicographicallyPrecedes(rightRevocation.canonicalBytes) ? right : left
    }
}

/// The merge of renewal facts. Renewal info is taken as a whole, for each transaction signed beside it and each thing
/// that it says about the end of a period: the later stamp wins, then the greater canonical bytes. So neither renewal
/// info of the next period nor the end of a grace period replaces what was said in it.
extension ObservedRenewal {
    /// The facts of a single statement.
    public convenience init(_ statement: RenewalStatement) { self.init(first: statement) }

    /// Merges these facts with others of the same subscription.
    ///
    /// - Returns: `self` if the others add nothing, or are about another subscription.
    public func merged(with other: ObservedRenewal) -> ObservedRenewal {
        guard self !== other, key == other.key else { return self }
        var places: [RenewalStatement.Slot: Int] = [:]
        for (place, statement) in statements.enumerated() { places[statement.slot] = place }
        var (merged, isChanged) = (statements, false)
        for statement in other.statements {
            if let place = places[statement.slot] {
                let newer = RenewalStatement.newer(merged[place], statement)
                guard newer != merged[place] else { continue }
                merged[place] = newer
            } else {
                merged.append(statement)
            }
            isChanged = true
        }
        return isChanged ? ObservedRenewal(merged) ?? self : self
    }

    /// Merges these facts with one more statement.
    public func merged(with statement: RenewalStatement) -> ObservedRenewal {
        merged(with: ObservedRenewal(statement))
    }
}

extension RenewalStatement {
    /// The later stamp; if equal, the greater canonical bytes.
    package static func newer(_ left: RenewalStatement, _ right: RenewalStatement) -> RenewalStatement {
        guard left.stamp == right.stamp else { return left.stamp < right.stamp ? right : left }
        guard left.info != right.info else {
            return (left.beside ?? "") < (right.beside ?? "") ? right : left
        }
        return left.info.canonicalBytes.lexicographicallyPrecedes(right.info.canonicalBytes) ? right : left
    }
}

/// A field in which two sources of facts should never differ. A difference is recorded as the event `contradicted`.
public enum Contradiction: String, Sendable, CaseIterable {
    case originalTransactionID = "original_transaction_id"
    case productID = "product_id"
    case kind
    case quantity
}

extension ObservedTransaction {
    /// The fields in which other facts of the same transaction differ. A field that is missing in one of them is not a
    /// contradiction.
    public func contradictions(with other: ObservedTransaction) -> [Contradiction] {
        Contradiction.allCases.filter { field in
            switch field {
            case .originalTransactionID:
                Self.differ(fields.originalTransactionID, other.fields.originalTransactionID)
            case .productID: Self.differ(fields.productID, other.fields.productID)
            case .kind: Self.differ(fields.kind, other.fields.kind)
            case .quantity: Self.differ(fields.quantity, other.fields.quantity)
            }
        }
    }

    private static func differ<Value>(_ left: Witnessed<Value>?, _ right: Witnessed<Value>?) -> Bool {
        guard let left, let right else { return false }
        return left.value != right.value
    }
}
