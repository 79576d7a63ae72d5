import Foundation

/// An answer that was decided, with that from which it was made, in the form in which it is kept while it is sent.
struct DecidedConsumption: Codable {
    var answer: ConsumptionAnswer
    var situation: ConsumptionSituation

    func stored() throws(LedgerStorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            return [UInt8](try encoder.encode(self))
        } catch {
            throw LedgerStorageError(.other, "an answer to a refund request cannot be encoded: \(error)")
        }
    }
}

extension DecidedConsumption {
    init(stored bytes: [UInt8]) throws(LedgerStorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            throw LedgerStorageError(.corrupt, "an answer to a refund request cannot be read: \(error)")
        }
    }
}
