/// A Name (RFC 5280, 4.1.2.4). Two names are equal if their DER is equal: Apple encodes each name in one way only, and
/// a looser comparison would have to be correct for every encoding.
struct DistinguishedName: Sendable, Hashable {
    /// The whole Name in DER.
    let der: [UInt8]

    init(_ der: [UInt8]) { self.der = der }
}

extension DistinguishedName: CustomStringConvertible {
    /// The attributes in words, most specific first: `CN=…, OU=…, O=…, C=…`.
    var description: String {
        do throws(VerificationError) {
            return try attributes().reversed().joined(separator: ", ")
        } catch {
            return "an unreadable name"
        }
    }

    private func attributes() throws(VerificationError) -> [String] {
        let slice = der[...]
        let bytes = slice.span
        var result: [String] = []
        var outer = DERCursor(0..<der.count)
        var relativeNames = DERCursor(try outer.next(DERTag.sequence, bytes).content)
        while !relativeNames.isAtEnd {
            var relativeName = DERCursor(try relativeNames.next(DERTag.set, bytes).content)
            while !relativeName.isAtEnd {
                var attribute = DERCursor(try relativeName.next(DERTag.sequence, bytes).content)
                let type = try attribute.next(DERTag.objectIdentifier, bytes).content
                let value = try attribute.next(bytes).content
                guard result.count < Self.shownAttributes else { return result }
                let text = String(decoding: bytes.copy(value).prefix(VerificationBudget.shownBytes), as: UTF8.self)
                result.append("\(Self.label(bytes.copy(type)))=\(text)")
            }
        }
        // Apple writes some names from the country down and some from the common name up.
        return result.first?.hasPrefix("CN=") == true ? result.reversed() : result
    }

    /// Apple's names have four or five.
    private static let shownAttributes = 8

    private static func label(_ type: [UInt8]) -> String {
        switch type {
        case [0x55, 0x04, 0x03]: "CN"
        case [0x55, 0x04, 0x06]: "C"
        case [0x55, 0x04, 0x07]: "L"
        case [0x55, 0x04, 0x08]: "ST"
        case [0x55, 0x04, 0x0A]: "O"
        case [0x55, 0x04, 0x0B]: "OU"
        default: ObjectIdentifier.dotted(type)
        }
    }
}
