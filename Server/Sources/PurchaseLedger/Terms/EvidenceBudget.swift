/// The daily limit (UTC) for what refused evidence takes in the database, in bytes: the evidence after compression, and the
/// entries about it. Above it, only hash, size and the first kilobyte of the evidence are stored. Genuine evidence is always stored
/// whole, even for a rejected claim.
public struct EvidenceBudget: Sendable, Equatable {
    /// What an entry takes besides its evidence: the row of the journal with its leaf, salt, code and details (about 450 bytes), its
    /// five indexes (200), its row and its hash in the Merkle log (150), and the row and the index of the evidence (150).
    static let entryBytes: Int64 = 1024
    /// What one more hash takes in the details of an entry, together with the row and the index of its evidence.
    static let hashBytes: Int64 = 220

    /// For all API keys of an app together.
    public var bytesPerAppAndDay: Int64
    /// For each API key.
    public var bytesPerKeyAndDay: Int64

    /// Creates a budget. The default has space for about 1,500 damaged receipts of an API key, and for four such keys.
    public init(bytesPerAppAndDay: Int64 = 16 << 20, bytesPerKeyAndDay: Int64 = 4 << 20) {
        self.bytesPerAppAndDay = bytesPerAppAndDay
        self.bytesPerKeyAndDay = bytesPerKeyAndDay
    }
}
