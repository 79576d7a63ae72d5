/// Durable storage of one document, the kit's record, and of the evidence of transactions that wait.
///
/// The methods block: a write that is not durable when it returns would lose or repeat purchases.
public protocol PurchaseStore: Sendable {
    /// The document; `nil` if nothing was stored yet.
    ///
    /// - Throws: `PurchaseError` with the code `store_damaged` if it was changed from outside, else `store_failed`.
    func read() throws -> [UInt8]?

    /// Replaces the document, wholly or not at all, and returns when it is durable.
    func write(_ document: [UInt8]) throws

    /// Moves a damaged document out of the way, so that `read` returns `nil`.
    func setAside() throws

    /// Stored evidence; `nil` if there is none of this name.
    func evidence(_ name: String) throws -> [UInt8]?

    /// Stores evidence. A name has letters, digits and hyphens.
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws

    /// Removes evidence; that of an unknown name is no error.
    func removeEvidence(_ name: String) throws

    /// The guest, who is apart from the document, because they may move to another device without it.
    func guest() throws -> [UInt8]?

    /// Stores the guest; `nil` removes them.
    func keepGuest(_ guest: [UInt8]?) throws
}

extension PurchaseStore {
    /// Does nothing: the next `write` replaces the document.
    public func setAside() throws {}
    /// Returns nothing: StoreKit delivers the evidence of a waiting transaction again.
    public func evidence(_: String) throws -> [UInt8]? { nil }
    public func keepEvidence(_: [UInt8], _: String) throws {}
    public func removeEvidence(_: String) throws {}
    /// Reads the evidence of this name.
    public func guest() throws -> [UInt8]? { try evidence("guest") }
    /// Stores them as evidence of this name.
    public func keepGuest(_ guest: [UInt8]?) throws {
        if let guest { try keepEvidence(guest, "guest") } else { try removeEvidence("guest") }
    }
}
