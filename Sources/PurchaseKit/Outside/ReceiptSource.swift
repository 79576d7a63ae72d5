/// The app receipt on this device.
public protocol ReceiptSource: Sendable {
    /// The receipt; `nil` if there is none, as in the sandbox before the first purchase.
    func load() async throws -> [UInt8]?

    /// Asks the App Store for a new receipt. The system may ask the customer for their password.
    ///
    /// - Throws: the refresh's own error, such as a cancelled password prompt.
    func refresh() async throws
}

/// A source without a receipt, for apps whose transactions all have a signed transaction of StoreKit 2.
public struct NoReceiptSource: ReceiptSource {
    public init() {}
    public func load() async throws -> [UInt8]? { nil }
    public func refresh() async throws { throw PurchaseError(.receiptMissing) }
}
