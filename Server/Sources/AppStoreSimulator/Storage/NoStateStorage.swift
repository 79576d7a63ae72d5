import EvidenceMint
import Foundation

/// Stores nothing: a simulator on this storage always begins with an empty state.
struct NoStateStorage: StateStorage {
    var keepsRows: Bool { false }
    func load() -> [StateTable: [String: Data]] { [:] }
    func save(_ changes: [StateChange]) {}
}
