import EvidenceMint
import Foundation

/// A row to write, or to delete if it has no content.
struct StateChange: Sendable {
    let table: StateTable
    let key: String
    let content: Data?
}
