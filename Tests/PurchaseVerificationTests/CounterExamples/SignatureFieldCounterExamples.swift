import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the signature field of a transaction receipt: version, signature, length, certificate.
enum SignatureFieldCounterExamples {
    static let all: [CounterExample] = MintedVersion.allCases.flatMap { lengths($0) + versions($0) } + swapped

    private static func signatureBytes(_ version: MintedVersion) -> Int { version == .two ? 128 : 256 }

    private static func lengths(_ version: MintedVersion) -> [CounterExample] {
        let signature = signatureBytes(version)
        func length(_ fault: String, _ change: @escaping @Sendable (UInt32) -> UInt32) -> CounterExample {
            .signatureField(.signatureFieldMalformed, version, fault) { field in
                let range = (1 + signature)..<(5 + signature)
                let length = field[range].reduce(0) { $0 << 8 | UInt32($1) }
                field.replaceSubrange(range, with: withUnsafeBytes(of: change(length).bigEndian) { Array($0) })
            }
        }
        return [
            length("a certificate of one byte more") { $0 + 1 },
            length("a certificate of one byte less") { $0 - 1 },
            length("a certificate of no bytes") { _ in 0 },
            length("a certificate of 4 GB") { _ in .max },
            length("the length in little-endian") { $0.byteSwapped },
            .signatureField(.signatureFieldMalformed, version, "nothing but the version") { $0 = [$0[0]] },
            .signatureField(.signatureFieldMalformed, version, "nothing behind the signature") {
                $0.removeLast($0.count - 1 - signature)
            },
            .signatureField(.signatureFieldMalformed, version, "nothing behind the length") {
                $0.removeLast($0.count - 5 - signature)
            },
            .signatureField(.signatureFieldMalformed, version, "no certificate, and a length of 0") {
                $0.removeLast($0.count - 1 - signature)
                $0 += [0, 0, 0, 0]
            },
            .signatureField(.signatureFieldMalformed, version, "a signature one byte short") { $0.remove(at: 1) },
            .signatureField(.signatureFieldMalformed, version, "a signature one byte longer") {
                $0.insert(0, at: 1)
            },
            .signatureField(.signatureFieldMalformed, version, "a byte behind the certificate") { $0.append(0) },
            .signatureField(.signatureFieldMalformed, version, "the last byte of the certificate missing") {
                $0.removeLast()
            },
            .signatureField(.certificateMalformed, version, "a byte behind the certificate, with its length") {
                $0.append(0)
                let range = (1 + signature)..<(5 + signature)
                let length = $0[range].reduce(0) { $0 << 8 | UInt32($1) } + 1
                $0.replaceSubrange(range, with: withUnsafeBytes(of: length.bigEndian) { Array($0) })
            },
            .signatureField(.certificateMalformed, version, "a certificate that is none") {
                $0[5 + signature] = 0x04
            },
            .signatureField(.signatureInvalid, version, "a signature of zeros") {
                $0.replaceSubrange(1...signature, with: [UInt8](repeating: 0, count: signature))
            },
            .signatureField(.signatureInvalid, version, "a signature beyond the modulus") {
                $0.replaceSubrange(1...signature, with: [UInt8](repeating: 0xFF, count: signature))
            },
        ]
    }

    /// Versions that do not exist.
    private static func versions(_ version: MintedVersion) -> [CounterExample] {
        [0, 1, 5, 6, 0x82, 255].map { other in
            .signatureField(.signatureVersionUnsupported, version, "written as version \(other)") { $0[0] = other }
        }
    }

    /// One version written as another, which is signed with the content.
    private static let swapped: [CounterExample] = MintedVersion.allCases.flatMap { version in
        MintedVersion.allCases.filter { $0 != version }.map { other in
            let isSameLength = signatureBytes(version) == signatureBytes(other)
            return .signatureField(
                isSameLength ? .signatureInvalid : .signatureFieldMalformed, version,
                "written as version \(other.rawValue)"
            ) { $0[0] = other.rawValue }
        }
    }
}
