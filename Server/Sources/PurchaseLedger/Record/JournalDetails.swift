import Foundation
import PurchaseVerification

/// The details of a journal entry: one type for each kind, stored as canonical JSON (sorted keys). They contain the
/// outside names, so an erasure deletes them.
protocol JournalDetails: Codable, Sendable {
    static var kind: JournalKind { get }
    /// The details without fields that follow from the others.
    var abridged: Self { get }
    /// The details with the fields that `abridged` omitted.
    var complete: Self { get }
    /// Canonical JSON.
    func encoded() throws(LedgerStorageError) -> [UInt8]
}

extension JournalDetails {
    var abridged: Self { self }
    var complete: Self { self }

    /// Canonical JSON.
    func encoded() throws(LedgerStorageError) -> [UInt8] { try encodedByFoundation() }

    /// Canonical JSON, written by Foundation's encoder.
    func encodedByFoundation() throws(LedgerStorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(abridged))
        } catch {
            throw LedgerStorageError(.other, "the details of a \(Self.kind.name) entry cannot be encoded: \(error)")
        }
    }

    init(encoded: [UInt8]) throws(LedgerStorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(encoded)).complete
        } catch {
            throw LedgerStorageError(.corrupt, "the details of a \(Self.kind.name) entry cannot be read: \(error)")
        }
    }
}
