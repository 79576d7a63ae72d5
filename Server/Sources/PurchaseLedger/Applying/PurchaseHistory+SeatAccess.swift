import PurchaseVerification

extension PurchaseHistory {
    /// What the subscription gives those who claim its seats, by product.
    func seatAccess(_ ownership: Ownership) -> [ExactText: SeatAccess] {
        guard records.contains(where: \.facts.isInvitedByBackend) else { return [:] }
        return SeatGrounds.access(
            of: purchases(of: .buyer, ownership), renewal: renewal, revocations: handRevocations(of: .buyer),
            status: status(of: .buyer))
    }

    /// The rows of what the subscription gives those who claim its seats.
    func seatAccessRows(_ ownership: Ownership) -> [SeatAccessRow] {
        seatAccess(ownership).compactMap { productID, access in
            records.first { ExactText($0.productID) == productID }.map {
                SeatAccessRow(
                    access, original: original.key, product: $0.row.productKey, environment: $0.row.environment)
            }
        }
    }
}
