import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A journal entry as a line of JSON.
struct JournalLine {
    /// The line, with its line feed.
    let text: [UInt8]

    init(_ entry: ExportedEntry) {
        let leaf = entry.leaf
        var json = JSONWriter()
        json.object { json in
            func member(_ name: StaticString, _ value: String?) {
                guard let value else { return }
                json.key(name)
                json.string(value)
            }
            json.key("entry")
            json.number(entry.key)
            member("entry_id", leaf.id.uuidString.lowercased())
            member("at", "\(leaf.at)")
            member("kind", leaf.kind.name)
            member("app", leaf.app.isEmpty ? nil : leaf.app)
            member("customer", leaf.customer?.uuidString.lowercased())
            member("order", leaf.order?.uuidString.lowercased())
            member("code", leaf.code.isEmpty ? nil : leaf.code)
            member("evidence_sha256", leaf.evidence?.hexadecimal)
            member("leaf_hash", entry.leafHash.hexadecimal)
            if let number = entry.leafNumber {
                json.key("leaf_number")
                json.number(number)
            }
            // Canonical JSON, as the ledger wrote it; any other text was changed, which the audit reports.
            if let details = entry.details, let value = WrittenJSON.bounded(details) {
                json.key("details")
                value.write(to: &json)
            }
        }
        text = VisibleText.inJSON(json.bytes) + [UInt8(ascii: "\n")]
    }
}
