/// The daily limit (UTC) for unverified evidence that is stored whole, in bytes after compression. Above it, only hash, size and
/// the first kilobyte are stored. Genuine evidence is always stored whole, even for a rejected claim.
public struct EvidenceBudget: Sendable, Equatable {
    /// For all API keys of an app together.
    public var bytesPerAppAndDay: Int64
    /// For each API key.
    public var bytesPerKeyAndDay: Int64

    /// Creates a budget. The default has space for about 2,000 damaged receipts of an API key, and for four such keys.
    public init(bytesPerAppAndDay: Int64 = 16 << 20, bytesPerKeyAndDay: Int64 = 4 << 20) {
        self.bytesPerAppAndDay = bytesPerAppAndDay
        self.bytesPerKeyAndDay = bytesPerKeyAndDay
    }
}
