/// The schemas and rules under which a program can write: its own, and those of the release before it, whose servers
/// may still write to the same database.
public struct SchemaRange: Sendable, Equatable {
    /// The numbers of the schemas.
    let numbers: ClosedRange<Int64>
    /// The versions of the rules.
    let rules: ClosedRange<Int64>
    /// The numbers of the kinds of journal entries that begin with the newest schema, because the release before does
    /// not know them.
    let newKinds: Set<UInt8>

    init(numbers: ClosedRange<Int64>, rules: ClosedRange<Int64>, newKinds: Set<UInt8> = []) {
        (self.numbers, self.rules, self.newKinds) = (numbers, rules, newKinds)
    }

    /// Exactly one schema, under any rules.
    init(exactly number: Int64) {
        self.init(numbers: number...number, rules: 0...Int64.max)
    }
}
