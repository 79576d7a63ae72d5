import PurchaseVerification

/// Whether the trusted certificates are valid, and for how long.
struct CertificateExamination {
    let anchors: [TrustAnchor]
    let now: AppStoreTime

    /// Before the end, this time in milliseconds is left to find the successor: a quarter of a year.
    private static let notice: Int64 = 90 * 86_400_000

    func findings() -> [DoctorFinding] {
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
