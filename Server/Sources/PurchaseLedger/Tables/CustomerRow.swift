import Foundation
import PurchaseVerification

/// A customer of an app.
struct CustomerRow: TableRow {
    static let table = Table(
        "customers", key: "customer_key",
        columns: ["app_key", "reference", "name", "merged_into", "merge_entry", "token", "folded"])

    var key: Int64
    var appKey: Int64
    /// The random reference in the journal's leaves.
    var reference: UUID
    /// The outside name; `nil` after an erasure.
    var name: String?
    /// The customer that this one was merged into.
    var mergedInto: Int64?
    /// The journal entry of the merge.
    var mergeEntry: Int64?
    /// The current account token.
    var token: UUID?
    /// The folded name, by which a search finds it; `nil` if that is the name itself, and after an erasure.
    var folded: String?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        appKey = try reader.integer()
        reference = try reader.id()
        name = try reader.optionalText()
        mergedInto = try reader.optionalInteger()
        mergeEntry = try reader.optionalInteger()
        token = try reader.optionalID()
        folded = try reader.optionalText()
    }

    init(appKey: Int64, reference: UUID, name: String?) {
        (key, self.appKey, self.reference, self.name) = (0, appKey, reference, name)
        folded = name.map(\.folded).flatMap { $0.isSame(as: name) ? nil : $0 }
    }

    /// The name of this customer, if another name was merged into it.
    func survivor(of named: String) -> String? { named.isSame(as: name) ? nil : name }

    /// The lock of all data of the customer.
    var lock: LedgerLock { name.map { .customer($0) } ?? .customer(reference: reference) }

    var values: [LedgerValue] {
        [
            .integer(appKey), .id(reference), .text(name), .integer(mergedInto), .integer(mergeEntry), .id(token),
            .text(folded),
        ]
    }
}

extension String {
    /// The text without case and accents. Unicode does not change the folding of a character that it has assigned, so
    /// what is stored stays comparable.
    var folded: String {
        utf8.allSatisfy { $0 < 0x80 }
            ? lowercased() : folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
