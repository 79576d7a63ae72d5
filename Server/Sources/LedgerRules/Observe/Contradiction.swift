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
