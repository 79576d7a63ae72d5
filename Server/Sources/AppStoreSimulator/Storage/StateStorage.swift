import EvidenceMint
import Foundation

/// Stores the simulator's state: rows of JSON in a few tables.
protocol StateStorage: Sendable {
    /// All rows of all tables.
    func load() throws -> [StateTable: [String: Data]]
    /// Writes all changes or none.
    func save(_ changes: [StateChange]) throws
}

/// The tables.
enum StateTable: String, CaseIterable, Sendable {
    case settings, apps, products, customers, transactions, subscriptions, receipts, events, evidence, notifications
}

/// A row to write, or to delete if it has no content.
struct StateChange: Sendable {
    let table: StateTable
    let key: String
    let content: Data?
}

/// Stores nothing: a simulator on this storage always begins with an empty state.
struct NoStateStorage: StateStorage {
    func load() -> [StateTable: [String: Data]] { [:] }
    func save(_ changes: [StateChange]) {}
}
