import Crypto
import PurchaseLedger
import PurchaseVerification

/// The root certificate of a notification that the verifier does not trust. It is read for the operator, and proves
/// nothing.
enum UnknownRoot {
    /// The members of a notification that are signed separately.
    private static let parts = [
        ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"), ("appData", "signedAppTransactionInfo"),
    ]

    /// The SHA-256 of the last certificate in DER, in hexadecimal, as Apple publishes it for its root.
    ///
    /// - Parameter payload: the notification. If its own certificates were verified before, the unknown root is that of
    ///   a part.
    /// - Returns: `nil` if the certificates cannot be read.
    static func sha256(of payload: [UInt8], in ledger: TimedLedger) -> String? {
        let inspection = ledger.inspect(payload, app: "")
        guard ledger.isCertificateHeaderKnown(of: payload) else { return sha256(inspection) }
        let claims = inspection.content?.claims ?? [:]
        let signed = parts.lazy.compactMap { place, name -> [UInt8]? in
            guard case .object(let members) = claims[place], case .string(let text) = members[name] else { return nil }
            return Array(text.utf8)
        }
        return signed.first { !ledger.isCertificateHeaderKnown(of: $0) }
            .flatMap { sha256(ledger.inspect($0, app: "")) }
    }

    private static func sha256(_ inspection: EvidenceInspection) -> String? {
        inspection.certificates.last.map { Array(SHA256.hash(data: $0.der)).hexadecimal }
    }
}
