import EvidenceMint
import Foundation

/// Where the simulator's state lies: rows of JSON in a few tables.
protocol StateStorage: Sendable {
    /// All rows of all tables.
    func load() throws -> [StateTable: [String: Data]]
    /// Writes all the changes, or none of them.
    func save(_ changes: [StateChange]) throws
}

/// The tables.
enum StateTable: String, CaseIterable, Sendable {
    case settings, apps, products, customers, transactions, subscriptions, receipts, events, evidence
}

/// A row that is to be written, or removed where it has no content.
struct StateChange: Sendable {
    let table: StateTable
    let key: String
    let content: Data?
}

/// Keeps nothing: what runs on this begins anew each time.
struct NoStateStorage: StateStorage {
    func load() -> [StateTable: [String: Data]] { [:] }
    func save(_ changes: [StateChange]) {}
}
