/// Durable storage of one document, the kit's record.
///
/// Both methods block for as long as a small file takes: a write that is not durable when it returns would lose or repeat purchases.
public protocol PurchaseStore: Sendable {
    /// The document; `nil` if nothing was stored yet.
    ///
    /// - Throws: `PurchaseError` with the code `store_damaged` if the document was changed from outside, `store_failed` if it
    ///   cannot be read.
    func read() throws -> [UInt8]?

    /// Replaces the document, wholly or not at all, and returns when it is durable.
    func write(_ document: [UInt8]) throws
}
