import PurchaseVerification

/// The number of an app's originals after a place in the order in which they were first seen.
public struct CountOriginals: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var after: Int64

    public init(app: String, after: Int64 = 0) { (self.app, self.after) = (app, after) }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try OriginalsTable(connection: reader.connection).count(appKey: try reader.app(app).key, after: after)
    }
}
