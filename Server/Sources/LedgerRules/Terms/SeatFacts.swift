/// The seats that one signed transaction of a multiseat purchase states, as one value.
public struct SeatFacts: Sendable, Hashable {
    /// `quantity`: the seats that the transaction bought.
    public var quantity: Int64
    /// `revokedSeatQuantity`: the seats that were refunded. Such a refund has no revocation date.
    public var revoked: Int64
    /// `invitationManagement`: `APPLE` or `DEVELOPER`.
    public var invitationManagement: ExactText?
    /// `additionalTransactionReason`: present as soon as a period has several transactions.
    public var additionReason: ExactText?

    /// The seats that are left.
    public var remaining: Int64 { max(0, quantity - max(0, revoked)) }

    /// The seats of a transaction.
    public init(
        quantity: Int64, revoked: Int64 = 0, invitationManagement: ExactText? = nil, additionReason: ExactText? = nil
    ) {
        self.quantity = quantity
        self.revoked = revoked
        self.invitationManagement = invitationManagement
        self.additionReason = additionReason
    }
}

extension SeatFacts: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        quantity = try reader.signed()
        revoked = try reader.signed()
        invitationManagement = try reader.optional()
        additionReason = try reader.optional()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(signed: quantity)
        writer.write(signed: revoked)
        writer.write(optional: invitationManagement)
        writer.write(optional: additionReason)
    }
}
