import PurchaseVerification

/// Counts entries that are sealed, by hour, app, kind and code.
///
/// Each entry is sealed once, in one transaction of one server, so each is counted once, and no purchase waits for a
/// row that others change, too.
struct HourlyTally {
    private struct Key: Hashable, Comparable {
        let hour: Int64
        let app: String
        let kind: String
        let code: String

        static func < (left: Key, right: Key) -> Bool {
            (left.hour, left.app, left.kind, left.code) < (right.hour, right.app, right.kind, right.code)
        }
    }

    private var counts: [Key: Int64] = [:]

    /// The code of a notification without a type of the usual form.
    private static let otherType = "other"
    /// The longest name of a type that is counted by itself, in bytes; Apple's longest has 25.
    private static let typeBytes = 64

    /// Counts an entry. Refusals that were only counted are counted with their number.
    ///
    /// The counts are for drawings, so details that cannot be read, such as those of a newer version, do not stop the
    /// sealer: the entry is counted without them.
    ///
    /// - Parameter details: the entry's details; `nil` if a person's were erased.
    mutating func add(leaf bytes: [UInt8], details: [UInt8]?) {
        guard let leaf = JournalLeaf(bytes: bytes) else { return }
        switch leaf.kind {
        case .notification: add(leaf, code: Self.type(details) ?? Self.otherType, 1)
        case .refusals:
            guard let codes = Self.refusals(details) else { return add(leaf, code: leaf.code, 1) }
            for (code, count) in codes { add(leaf, code: code, count) }
        default: add(leaf, code: leaf.code, 1)
        }
    }

    /// The type of a notification; `nil` for one that is not of the usual form.
    private static func type(_ details: [UInt8]?) -> String? {
        guard let details, case .success(let read) = Result(catching: { try NotificationDetails(encoded: details) }),
            let type = read.usualType, type.utf8.count <= typeBytes
        else { return nil }
        let isUsual = type.utf8.allSatisfy {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        return isUsual ? type : nil
    }

    private static func refusals(_ details: [UInt8]?) -> [String: Int64]? {
        guard let details, case .success(let read) = Result(catching: { try RefusalsDetails(encoded: details) })
        else { return nil }
        return read.codes
    }

    private mutating func add(_ leaf: JournalLeaf, code: String, _ count: Int64) {
        let hour = HourlyCount.hour(of: leaf.at).millisecondsSince1970
        counts[Key(hour: hour, app: leaf.app, kind: leaf.kind.name, code: code), default: 0] += count
    }

    /// Adds the counts to the table. Hours that are too old are deleted.
    func write(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        let table = HourlyCountsTable(connection: connection)
        for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
            let hour = Timestamp(millisecondsSince1970: key.hour)
            try table.add(HourlyCount(hour: hour, kind: key.kind, code: key.code, count: count), app: key.app)
        }
        if let newest = counts.keys.map(\.hour).max() {
            try table.delete(before: Timestamp(millisecondsSince1970: newest - HourlyCountsTable.lifetime))
        }
    }
}
