import Crypto
import Foundation

extension CertificateTemplate {
    /// The TBSCertificate (RFC 5280, 4.1.2).
    func signedPart(publicKeyInfo: [UInt8], issuerKeyInfo: [UInt8]) -> [UInt8] {
        var parts: [[UInt8]] = []
        if let version { parts.append(DER.context(0, DER.integer(UInt64(max(0, version - 1))))) }
        parts += [
            DER.integer(magnitude: serialNumber),
            (innerSignatureAlgorithm ?? signatureAlgorithm).der,
            issuer.der,
            DER.sequence(Self.time(notBefore), Self.time(notAfter)),
            subject.der,
            publicKeyInfo,
        ]
        if !omitsExtensions {
            let list = extensions(publicKeyInfo: publicKeyInfo, issuerKeyInfo: issuerKeyInfo)
            if !list.isEmpty { parts.append(DER.context(3, DER.sequence(list.map(\.der)))) }
        }
        return DER.sequence(parts)
    }

    private func extensions(publicKeyInfo: [UInt8], issuerKeyInfo: [UInt8]) -> [Extension] {
        var list: [Extension] = []
        if let isAuthority {
            list.append(
                Extension(oid: KnownOID.basicConstraints, isCritical: true, value: basicConstraints(isAuthority)))
        }
        if hasAuthorityKeyIdentifier {
            let value = DER.sequence(DER.primitiveContext(0, Self.keyIdentifier(issuerKeyInfo)))
            list.append(Extension(oid: KnownOID.authorityKeyIdentifier, isCritical: false, value: value))
        }
        if hasSubjectKeyIdentifier {
            let value = DER.octetString(Self.keyIdentifier(publicKeyInfo))
            list.append(Extension(oid: KnownOID.subjectKeyIdentifier, isCritical: false, value: value))
        }
        if let keyUsage {
            list.append(Extension(oid: KnownOID.keyUsage, isCritical: true, value: keyUsage.der))
        }
        if !extendedKeyUsage.isEmpty {
            let value = DER.sequence(extendedKeyUsage.map(\.der))
            list.append(Extension(oid: KnownOID.extendedKeyUsage, isCritical: true, value: value))
        }
        list += markers.map { Extension(oid: $0, isCritical: false, value: DER.null) }
        return list + extraExtensions
    }

    /// DER omits default values, so a certificate that is no authority has an empty sequence.
    private func basicConstraints(_ isAuthority: Bool) -> [UInt8] {
        var parts: [[UInt8]] = []
        if isAuthority { parts.append(DER.boolean(true)) }
        if let pathLength { parts.append(DER.integer(UInt64(max(0, pathLength)))) }
        return DER.sequence(parts)
    }

    /// UTCTime through 2049, GeneralizedTime from 2050 and before 1950 (RFC 5280, 4.1.2.5).
    private static func time(_ date: Date) -> [UInt8] {
        let time = CivilTime(date)
        if (1950...2049).contains(time.year) {
            return DER.element(DER.Tag.utcTime, Array(((time.year % 100).padded(2) + time.afterYear).utf8))
        }
        return DER.element(DER.Tag.generalizedTime, Array((time.year.padded(4) + time.afterYear).utf8))
    }

    /// The SHA-1 of the octets of the key's BIT STRING (RFC 5280, 4.2.1.2, method 1).
    private static func keyIdentifier(_ publicKeyInfo: [UInt8]) -> [UInt8] {
        var outer = DERCursor(publicKeyInfo)
        guard let sequence = outer.next(DER.Tag.sequence) else { return ReceiptDigest.sha1.hash(publicKeyInfo) }
        var inner = DERCursor(publicKeyInfo, within: sequence.content)
        guard inner.next() != nil, let key = inner.next(DER.Tag.bitString) else {
            return ReceiptDigest.sha1.hash(publicKeyInfo)
        }
        return ReceiptDigest.sha1.hash(Array(publicKeyInfo[key.content].dropFirst()))
    }
}

extension CertificateTemplate.Extension {
    fileprivate var der: [UInt8] {
        var parts = [oid.der]
        if isCritical { parts.append(DER.boolean(true)) }
        parts.append(DER.octetString(value))
        return DER.sequence(parts)
    }
}

extension CertificateTemplate.KeyUsage {
    /// A named bit list: the first bit is the highest of the first octet, trailing zeros are dropped (X.690, 11.2.2).
    fileprivate var der: [UInt8] {
        var octets: [UInt8] = [0, 0]
        var highest = -1
        for bit in 0..<16 where rawValue & (1 << UInt16(bit)) != 0 {
            octets[bit / 8] |= 0x80 >> UInt8(bit % 8)
            highest = bit
        }
        let used = Array(octets.prefix(highest / 8 + (highest < 0 ? 0 : 1)))
        let unused = UInt8(highest < 0 ? 0 : 7 - highest % 8)
        return DER.element(DER.Tag.bitString, [unused] + used)
    }
}

extension CertificateTemplate.SignatureAlgorithm {
    var digest: ReceiptDigest {
        switch self {
        case .sha1WithRSA, .ecdsaWithSHA1: .sha1
        case .sha256WithRSA, .ecdsaWithSHA256: .sha256
        case .sha384WithRSA, .ecdsaWithSHA384: .sha384
        case .sha512WithRSA, .ecdsaWithSHA512: .sha512
        }
    }

    /// The AlgorithmIdentifier: NULL parameters with RSA (RFC 4055, 5), no parameters with ECDSA (RFC 5758, 3.2).
    var der: [UInt8] {
        switch self {
        case .sha1WithRSA: Self.rsa("1.2.840.113549.1.1.5")
        case .sha256WithRSA: Self.rsa("1.2.840.113549.1.1.11")
        case .sha384WithRSA: Self.rsa("1.2.840.113549.1.1.12")
        case .sha512WithRSA: Self.rsa("1.2.840.113549.1.1.13")
        case .ecdsaWithSHA1: Self.ecdsa("1.2.840.10045.4.1")
        case .ecdsaWithSHA256: Self.ecdsa("1.2.840.10045.4.3.2")
        case .ecdsaWithSHA384: Self.ecdsa("1.2.840.10045.4.3.3")
        case .ecdsaWithSHA512: Self.ecdsa("1.2.840.10045.4.3.4")
        }
    }

    private static func rsa(_ oid: CertificateTemplate.OID) -> [UInt8] { DER.sequence(oid.der, DER.null) }

    private static func ecdsa(_ oid: CertificateTemplate.OID) -> [UInt8] { DER.sequence(oid.der) }
}

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
        if fields.nextTag == 0xA0 { _ = fields.next() }
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
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
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
        if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
        let clock = (2...4).map { number(yearDigits + 2 * $0, 2) }
        let days = CivilTime.days(year: year, month: number(yearDigits, 2), day: number(yearDigits + 2, 2))
        return Date(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }
}
