import PurchaseVerification

struct OperatorRow: TableRow {
    static let table = Table(
        "operators", key: nil,
        columns: [
            "name", "role", "created_at", "password", "link_sha256", "link_ends_at", "failures", "locked_until",
        ])

    var name: String
    var role: OperatorRole
    var createdAt: Timestamp
    /// The hash of the password; `nil` until it is set.
    var password: String?
    var linkSHA256: [UInt8]?
    var linkEndsAt: Timestamp?
    /// The wrong passwords since the last right one.
    var failures: Int64 = 0
    var lockedUntil: Timestamp?

    init(name: String, role: OperatorRole, createdAt: Timestamp) {
        (self.name, self.role, self.createdAt) = (name, role, createdAt)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        name = try reader.text()
        role = try reader.named(OperatorRole.self)
        createdAt = try reader.time()
        password = try reader.optionalText()
        linkSHA256 = try reader.optionalBlob()
        linkEndsAt = try reader.optionalTime()
        failures = try reader.integer()
        lockedUntil = try reader.optionalTime()
    }

    var values: [LedgerValue] {
        [
            .text(name), .text(role.rawValue), .time(createdAt), .text(password), .blob(linkSHA256), .time(linkEndsAt),
            .integer(failures), .time(lockedUntil),
        ]
    }

    var account: OperatorAccount {
        OperatorAccount(
            name: name, role: role, createdAt: createdAt, hasPassword: password != nil, lockedUntil: lockedUntil)
    }
}
