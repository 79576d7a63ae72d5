/// The daily limit (UTC) for what refusals take in the database, in bytes: the entries about them, and their evidence
/// after compression. Beyond it, refusals are counted and not recorded one by one. Evidence that adds a fact, an owner
/// or an order needs no budget.
public struct EvidenceBudget: Sendable, Equatable {
    /// What an entry takes besides the bytes of its leaf and its details: the row of the journal with its salt and
    /// code, its indexes, its row and its hash in the Merkle log, and the row and the index of its evidence.
    package static let entryBytes: Int64 = 768
    /// What one more hash takes in the details of an entry, together with the row and the index of its evidence.
    package static let hashBytes: Int64 = 220
    /// What a customer and a claim that changes no owner take besides the customer's name.
    package static let customerBytes: Int64 = 320
    /// What must be left for a refusal to be recorded: an entry with short fields and the first kilobyte of its
    /// evidence.
    package static let leastBytes: Int64 = 2048

    /// A page of SQLite. A row of more than half of it has no other row beside it.
    private static let pageBytes: Int64 = 4096

    /// What stored evidence takes in the database.
    package static func space(of bytes: Int64) -> Int64 {
        bytes <= pageBytes / 2 ? bytes : (bytes + pageBytes - 1) / pageBytes * pageBytes
    }

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
