import Foundation

/// Keys that no authority vouches for. They take long to make, so a process makes them once.
enum ForeignKeys {
    static let authority = Result { try AuthorityKeys.rsa() }
    static let weak = Result { try SigningKey.makeRSA(bits: 1024) }
    static let elliptic = AuthorityKeys.elliptic()
}

extension CertificateTemplate {
    private static let day: TimeInterval = 86_400

    /// Ends thirty days before: an authority that ended in the last two days may be a mistake of Apple's, and no fault.
    mutating func expire(before date: Date) {
        notAfter = date.addingTimeInterval(-30 * Self.day)
        notBefore = min(notBefore, notAfter.addingTimeInterval(-365 * Self.day))
    }

    /// Begins the day after.
    mutating func begin(after date: Date) {
        notBefore = date.addingTimeInterval(Self.day)
        notAfter = max(notAfter, notBefore.addingTimeInterval(365 * Self.day))
    }

    /// Replaces a leaf with the certificate that every developer has from the same intermediate: one for code signing.
    mutating func becomeDevelopers() {
        subject = Name(commonName: "Assay Simulator Developer", organization: "Assay Simulator")
        markers = []
        extendedKeyUsage = [KnownOID.codeSigning]
    }
}
