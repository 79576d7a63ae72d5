import Foundation
import PurchaseLedger
import PurchaseVerification
import Yams

/// The entries of a mapping that were not read yet.
struct SettingsSection {
    struct Entry {
        let key: String
        let value: Node
        let line: Int?
    }

    let name: String
    var entries: [Entry]
    /// The allowed names that were asked for so far.
    var known: [String] = []
    /// The lines of all entries, including those that were read.
    let lines: [String: Int?]

    mutating func take(_ key: String) -> Entry? {
        known.append(key)
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        return entries.remove(at: index)
    }
}
