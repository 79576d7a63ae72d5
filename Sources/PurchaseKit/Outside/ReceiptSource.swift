/// The app receipt on this device.
public protocol ReceiptSource: Sendable {
    /// The receipt; `nil` if there is none, as in the sandbox before the first purchase.
    func load() async throws -> [UInt8]?

    /// Asks the App Store for a new receipt. The system may ask the customer for their password.
    ///
    /// - Throws: the refresh's own error, such as a cancelled password prompt.
    func refresh() async throws
}
