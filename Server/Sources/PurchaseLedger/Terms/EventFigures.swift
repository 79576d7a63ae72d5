import PurchaseVerification

/// The numbers of an event, its time and its reason.
struct EventFigures: Sendable, Equatable {
    /// Units that were granted, withdrawn, given back or consumed; in `customer_merged`, the purchases of the former
    /// customer.
    var units: Int64?
    /// The new balance.
    var balance: Int64?
    /// The new total of units that the customer consumed and Apple withdrew.
    var shortfall: Int64?
    /// When the access that the event concerns ends.
    var until: Timestamp?
    /// The reason of an operator's act, or the fields that contradict each other.
    var reason: String?
    /// Whether webhooks deliver it. Events of an import are only listed, unless the operator had them announced.
    var isAnnounced = true
    /// The id of the claim that was decided.
    var submission: String?
    /// The change of a renewal.
    var renewal: RenewalChange?

    init() {}

    /// Reads exactly the format of `encoded`.
    init(encoded: [UInt8]) throws(FactsDecodingError) {
        var reader = CanonicalReader(encoded)
        units = try reader.optional()
        balance = try reader.optional()
        shortfall = try reader.optional()
        until = try reader.optional()
        reason = try reader.optional(ExactText.self)?.string
        // Nearly all events are announced and concern no decision, and only one type has a renewal, so only the others
        // store these fields.
        if !reader.isAtEnd { isAnnounced = try reader.byte() != 0 }
        if !reader.isAtEnd { submission = try reader.optional(ExactText.self)?.string }
        if !reader.isAtEnd { renewal = try reader.value(RenewalChange.self) }
        guard reader.isAtEnd, self.encoded == encoded else { throw reader.malformed }
    }

    var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(optional: units)
        writer.write(optional: balance)
        writer.write(optional: shortfall)
        writer.write(optional: until)
        writer.write(optional: reason.map { ExactText($0) })
        if !isAnnounced || submission != nil || renewal != nil { writer.write(byte: isAnnounced ? 1 : 0) }
        if submission != nil || renewal != nil { writer.write(optional: submission.map { ExactText($0) }) }
        if let renewal { writer.write(renewal) }
        return writer.bytes
    }
}
