import PurchaseServer
import PurchaseVerification

/// Whether the trusted certificates are valid, and for how long.
struct CertificateExamination {
    let anchors: [TrustAnchor]
    /// The certificate of the server's TLS; `nil` if it has none.
    let server: ServerCertificate?
    let now: AppStoreTime

    /// Before the end, this time in milliseconds is left to find the successor: a quarter of a year.
    private static let notice: Int64 = 90 * 86_400_000

    func findings() -> [DoctorFinding] { anchorFindings() + serverFindings() }

    /// The certificate of the server itself, of which its key's mode was checked with the settings.
    private func serverFindings() -> [DoctorFinding] {
        guard let server else { return [] }
        let left = server.notAfter.millisecondsSince1970 - now.millisecondsSince1970
        let name = "the certificate of server.tls, \(server.certificateFile),"
        let key = "only its owner can read the key of server.tls, \(server.keyFile)"
        let action = "Replace the file; a running server reads it by itself."
        let finding: DoctorFinding =
            if left < 0 {
                .failed(.certificates, "\(name) expired on \(server.notAfter)", do: action)
            } else if server.notBefore > now {
                .failed(
                    .certificates, "\(name) is not valid before \(server.notBefore)",
                    do: "Compare the clock, or replace the file.")
            } else if left < Self.serverNotice {
                .warning(.certificates, "\(name) expires on \(server.notAfter)", do: action)
            } else {
                .fine(.certificates, "\(name) is valid until \(server.notAfter)")
            }
        return [finding, .fine(.keys, key)]
    }

    /// Two weeks: programs that renew certificates do so a month before their end.
    private static let serverNotice: Int64 = 14 * 86_400_000

    private func anchorFindings() -> [DoctorFinding] {
        anchors.map { anchor in
            let left = anchor.notAfter.millisecondsSince1970 - now.millisecondsSince1970
            if left < 0 {
                return .failed(
                    .certificates, "\(anchor.subject) expired on \(anchor.notAfter)",
                    do: "Name its successor in server.trust: what was signed after that time is refused.")
            }
            if left < Self.notice {
                return .warning(
                    .certificates, "\(anchor.subject) expires on \(anchor.notAfter)",
                    do: "Add its successor to server.trust before that day.")
            }
            return .fine(.certificates, "\(anchor.subject) is valid until \(anchor.notAfter)")
        }
    }
}
