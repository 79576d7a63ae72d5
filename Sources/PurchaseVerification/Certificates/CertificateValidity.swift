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

    /// How long after the end of an authority the evidence under it may still be genuine, in milliseconds. In February
    /// 2023 Apple embedded an intermediate for hours after its end.
    static let recent: Int64 = 48 * 3_600_000

    /// Checks that the time is in the period, or at most `tolerance` milliseconds after it.
    func require(
        _ moment: AppStoreTime, of subject: @autoclosure () -> String, tolerance: Int64 = 0
    ) throws(VerificationError) {
        guard moment >= notBefore else {
            throw VerificationError(
                .certificateNotYetValid, expected: "\(notBefore) or later for \(subject())", found: "\(moment)")
        }
        guard !isOver(at: moment, tolerance) else {
            throw VerificationError(
                .certificateExpired, expected: "\(notAfter) or earlier for \(subject())", found: "\(moment)")
        }
    }

    /// Certificates count whole seconds, so the last second is included to its end.
    private func isOver(at moment: AppStoreTime, _ tolerance: Int64 = 0) -> Bool {
        moment.millisecondsSince1970 > notAfter.millisecondsSince1970 + 999 + tolerance
    }
}

extension VerificationError {
    /// The error at the time of an answer: `certificate_just_expired` in the 48 hours after the end of an authority
    /// that had just ended when the evidence was signed, if nothing else of its certificates is wrong.
    public func at(_ now: AppStoreTime) -> VerificationError {
        guard let end = authorityEnd,
            now.millisecondsSince1970 <= end.millisecondsSince1970 + CertificateValidity.recent
        else { return self }
        return VerificationError(.certificateJustExpired, expected: expected, found: found)
    }
}
