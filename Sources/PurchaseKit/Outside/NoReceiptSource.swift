/// A source without a receipt, for apps whose transactions all have a signed transaction of StoreKit 2.
public struct NoReceiptSource: ReceiptSource {
    public init() {}
    public func load() async throws -> [UInt8]? { nil }
    public func refresh() async throws { throw PurchaseError(.receiptMissing) }
}
