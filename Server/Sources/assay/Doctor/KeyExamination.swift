import Foundation
import PurchaseLedger
import PurchaseServer

/// Whether the keys of the record are there, and who may read them. The keys of answers and of the App Store are read
/// with the settings.
struct KeyExamination {
    let keys: RecordKeys

    func findings() -> [DoctorFinding] {
        [
            finding("the key of entries", keys.entryKeyFile) { () throws(LogError) in try keys.entryKeyIfAny() != nil },
            finding("the signing key of the record", keys.signingKeyFile) { () throws(LogError) in
                if let lost = try CheckpointSigner.lostKey(at: keys.signingKeyFile) { throw lost }
                return try keys.lastSigned() != nil
            },
        ]
    }

    private func finding(
        _ name: String, _ path: String, _ isThere: () throws(LogError) -> Bool
    ) -> DoctorFinding {
        do throws(LogError) {
            guard try isThere() else {
                return .warning(
                    .keys, "\(name), \(path), does not exist",
                    do: "If this ledger was used before, bring the file back; the first start of a new one makes it.")
            }
            return .fine(.keys, "only its owner can read \(name), \(path)")
        } catch {
            let action =
                switch error.code {
                case .fileMode: "Run: chmod 600 \(path)"
                case .headsMissing, .signingKeyMissing: "See 'Restore' in docs/operations.md: no server starts so."
                default: "Give the server's user the right to read it, or bring the file back."
                }
            return .failed(.keys, "\(name), \(path): \(error)", do: action)
        }
    }
}
