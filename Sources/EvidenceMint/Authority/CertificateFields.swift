import Foundation

/// The fields of a certificate it did not make in this run.
struct CertificateFields {
    /// The content octets of the INTEGER.
    let serialNumber: [UInt8]
    let signatureAlgorithm: CertificateTemplate.SignatureAlgorithm?
    let issuer: CertificateTemplate.Name
    let notBefore: Date
    let notAfter: Date
    let subject: CertificateTemplate.Name
    /// The position of the subject in the certificate.
    let subjectRange: Range<Int>
    let publicKeyInfo: [UInt8]

    /// - Throws: `MintError.malformedCertificate`.
    init(_ certificate: [UInt8]) throws {
        var outer = DERCursor(certificate)
        guard let whole = outer.next(DER.Tag.sequence) else { throw MintError.malformedCertificate }
        var middle = DERCursor(certificate, within: whole.content)
        guard let signedPart = middle.next(DER.Tag.sequence) else { throw MintError.malformedCertificate }

        var fields = DERCursor(certificate, within: signedPart.content)
        if fields.nextTag == 0xA0 {
            _ = fields.next()
        }
        guard
            let serialNumber = fields.next(DER.Tag.integer),
            let algorithm = fields.next(DER.Tag.sequence),
            let issuer = fields.next(DER.Tag.sequence),
            let validity = fields.next(DER.Tag.sequence),
            let subject = fields.next(DER.Tag.sequence),
            let publicKeyInfo = fields.next(DER.Tag.sequence)
        else { throw MintError.malformedCertificate }

        var times = DERCursor(certificate, within: validity.content)
        guard
            let notBefore = times.next().flatMap({ Self.date(certificate, $0) }),
            let notAfter = times.next().flatMap({ Self.date(certificate, $0) })
        else { throw MintError.malformedCertificate }

        self.serialNumber = Array(certificate[serialNumber.content])
        self.signatureAlgorithm = Self.algorithm(Array(certificate[algorithm.range]))
        self.issuer = CertificateTemplate.Name(der: Array(certificate[issuer.range]))
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.subject = CertificateTemplate.Name(der: Array(certificate[subject.range]))
        self.subjectRange = subject.range
        self.publicKeyInfo = Array(certificate[publicKeyInfo.range])
    }

    private static func algorithm(_ der: [UInt8]) -> CertificateTemplate.SignatureAlgorithm? {
        CertificateTemplate.SignatureAlgorithm.allCases.first { $0.der == der }
    }

    /// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ` (RFC 5280, 4.1.2.5).
    private static func date(_ certificate: [UInt8], _ element: DERCursor.Element) -> Date? {
        let digits = certificate[element.content].dropLast()
        let yearDigits = element.tag == DER.Tag.utcTime ? 2 : 4
        guard digits.count == yearDigits + 10, digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int {
            digits.dropFirst(offset).prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        var year = number(0, yearDigits)
        if yearDigits == 2 {
            year += year < 50 ? 2000 : 1900
        }
        let clock = (2...4).map { number(yearDigits + 2 * $0, 2) }
        let days = CivilTime.days(year: year, month: number(yearDigits, 2), day: number(yearDigits + 2, 2))
        return Date(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }
}
