/// The period in which a certificate may be used, both ends included (RFC 5280, 4.1.2.5).
struct CertificateValidity: Sendable, Equatable {
    let notBefore: AppStoreTime
    let notAfter: AppStoreTime

    init(notBefore: AppStoreTime, notAfter: AppStoreTime) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        var cursor = DERCursor(content)
        notBefore = try CertificateTime.read(bytes, try cursor.next(bytes))
        notAfter = try CertificateTime.read(bytes, try cursor.next(bytes))
        try cursor.finish()
    }

    /// The period in which both may be used.
    func intersection(_ other: CertificateValidity) -> CertificateValidity {
        CertificateValidity(notBefore: max(notBefore, other.notBefore), notAfter: min(notAfter, other.notAfter))
    }

    /// Whether the time is in the period.
    func contains(_ moment: AppStoreTime) -> Bool { moment >= notBefore && !isOver(at: moment) }

    /// Checks that the time is in the period.
    func require(_ moment: AppStoreTime, of subject: @autoclosure () -> String) throws(VerificationError) {
        guard moment >= notBefore else {
            throw VerificationError(
                .certificateNotYetValid, expected: "\(notBefore) or later for \(subject())", found: "\(moment)")
        }
        guard !isOver(at: moment) else {
            throw VerificationError(
                .certificateExpired, expected: "\(notAfter) or earlier for \(subject())", found: "\(moment)")
        }
    }

    /// Certificates count whole seconds, so the last second is included to its end.
    private func isOver(at moment: AppStoreTime) -> Bool {
        moment.millisecondsSince1970 > notAfter.millisecondsSince1970 + 999
    }
}
