/// What a transaction that writes has found: the schema that all servers of the database write, and the rules by which
/// they decide.
public struct SchemaInForce: Sendable, Equatable {
    /// The number of the newest migration that has ended. What a later one has added is there and not used yet.
    public let number: Int64
    /// The version of the rules; `nil` in a new database.
    public let rules: Int64?
    /// The numbers of the kinds of journal entries that begin later.
    let withheldKinds: Set<UInt8>

    init(number: Int64, rules: Int64?, withheldKinds: Set<UInt8> = []) {
        (self.number, self.rules, self.withheldKinds) = (number, rules, withheldKinds)
    }
}
