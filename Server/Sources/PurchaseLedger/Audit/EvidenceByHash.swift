/// Evidence by its hash, as it was sent.
public struct EvidenceByHash: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var sha256: [UInt8]

    /// The evidence with a hash.
    public init(sha256: [UInt8]) { self.sha256 = sha256 }

    public func answer(_ reader: LedgerTransaction) throws -> [UInt8]? {
        try EvidenceStore(connection: reader.connection).bytes(sha256: sha256)
    }
}
