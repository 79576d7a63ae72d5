import EvidenceMint
import Foundation

/// Stores the simulator's state: rows of JSON in a few tables.
protocol StateStorage: Sendable {
    /// Whether anything is kept. If not, changes need not be written out.
    var keepsRows: Bool { get }
    /// All rows of all tables.
    func load() throws -> [StateTable: [String: Data]]
    /// Writes all changes or none.
    func save(_ changes: [StateChange]) throws
}
