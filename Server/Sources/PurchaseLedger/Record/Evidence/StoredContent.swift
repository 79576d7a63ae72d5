import CZlib
import Crypto
import PurchaseVerification

/// The stored form of evidence:
///
///     form          1 byte
///     checksum      4 bytes, CRC-32 of the form and of everything after the checksum
///     content       by the form
///
/// In form 1 the content is the unchanged evidence, in form 5 its first kilobyte. In the other forms it is split
/// evidence, with the dictionary for signed payloads, app receipts or transaction receipts; all numbers are LEB128:
///
///     parts         their number, and the key of each in `evidence_parts`
///     lengths       of the shape, the literals and the opaque bytes
///     opaque        the opaque bytes
///     deflate       shape and literals
///
/// SHA-256 of the evidence proves the whole. The checksum detects a change of stored bytes that still expands to the
/// same evidence.
package enum StoredContent {
    package enum Form: UInt8 {
        case plain = 1
        case splitClaims1 = 2
        case splitReceipt1 = 3
        case splitPropertyList1 = 4
        case prefix = 5

        package var dictionary: CompressionDictionary? {
            switch self {
            case .splitClaims1: .claims1
            case .splitReceipt1: .receipt1
            case .splitPropertyList1: .propertyList1
            case .plain, .prefix: nil
            }
        }
    }

    /// The number of bytes that are stored of unverified evidence beyond the budget.
    static let prefixBytes = 1024

    static func plain(_ evidence: [UInt8]) -> [UInt8] { sealed(.plain, evidence) }
    static func prefix(of evidence: [UInt8]) -> [UInt8] { sealed(.prefix, Array(evidence.prefix(prefixBytes))) }

    /// The form of stored bytes; `nil` if they were changed.
    package static func form(_ stored: [UInt8]) -> Form? {
        guard stored.count >= 5, let form = Form(rawValue: stored[0]),
            stored[1..<5].reduce(0, { $0 << 8 | UInt32($1) }) == checksum(stored)
        else { return nil }
        return form
    }

    /// The keys of the shared parts in stored bytes, which may be the start of longer ones.
    static func parts(of stored: [UInt8]) -> [Int64] {
        guard let form = stored.first.flatMap(Form.init(rawValue:)), form.dictionary != nil else { return [] }
        var rest = stored.dropFirst(5)
        guard let count = rest.popNumber(), count <= SplitEvidence.maximumParts else { return [] }
        return (0..<count).compactMap { _ in rest.popNumber().map { Int64($0) } }
    }

    /// Content in a form, with its checksum.
    package static func sealed(_ form: Form, _ content: [UInt8]) -> [UInt8] {
        var stored: [UInt8] = []
        stored.reserveCapacity(5 + content.count)
        stored += [form.rawValue, 0, 0, 0, 0]
        stored += content
        seal(&stored)
        return stored
    }

    /// Writes the checksum into stored bytes.
    static func seal(_ stored: inout [UInt8]) {
        let checksum = checksum(stored)
        for place in 0..<4 { stored[1 + place] = UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * place)) }
    }

    private static func checksum(_ stored: [UInt8]) -> UInt32 {
        stored.withUnsafeBufferPointer { stored in
            guard let start = stored.baseAddress, stored.count >= 5 else { return 0 }
            let form = crc32_z(0, start, 1)
            return UInt32(truncatingIfNeeded: crc32_z(form, start + 5, stored.count - 5))
        }
    }
}

/// How much of a piece of evidence is stored.
public enum StoredPart: String, Sendable {
    case whole
    /// The first kilobyte of unverified evidence beyond the daily budget.
    case prefix
    /// Nothing, after an erasure.
    case none
}

/// Evidence that is ready to be stored: hashed, split and compressed, without use of the database.
public struct StorableEvidence: Sendable {
    /// SHA-256 of the bytes as they were sent.
    public let sha256: [UInt8]
    let isVerified: Bool
    let bytes: [UInt8]
    let compressed: CompressedEvidence?
    let partHashes: [[UInt8]]
    /// The number of bytes that were sent.
    var size: Int64 { Int64(bytes.count) }

    /// Hashes and compresses evidence.
    ///
    /// - Parameters:
    ///   - bytes: the evidence as it was sent.
    ///   - isVerified: whether its signature was verified. Certificates of other evidence do not become shared parts.
    public init(_ bytes: [UInt8], isVerified: Bool) {
        sha256 = Self.sha256(bytes)
        self.bytes = bytes
        self.isVerified = isVerified
        compressed =
            bytes.count > EvidenceStore.largest ? nil : CompressedEvidence(bytes, sharesParts: isVerified)
        partHashes = compressed?.parts.map { Self.sha256($0) } ?? []
    }

    /// The hash that identifies evidence.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

/// Stored evidence.
package struct KeptEvidence {
    let key: Int64
    let sha256: [UInt8]
    /// Whether only its first kilobyte is kept.
    package let isPrefix: Bool
    /// The bytes that verified evidence takes if it is new; the daily budget pays for them if the evidence is refused.
    var uncharged: Int64 = 0
    /// The first shared part of its stored form; 0 if it has none.
    var part: Int64 = 0
}

/// A part of evidence, split for storage. Evidence is a list of pieces.
indirect enum EvidencePiece {
    /// Bytes that are compressed.
    case literal(ArraySlice<UInt8>)
    /// Random bytes, such as a signature: compressing them gains nothing and worsens the compression of the others.
    case opaque(ArraySlice<UInt8>)
    /// Bytes that many pieces of evidence share: the certificates of a signer. They are stored once.
    case shared(ArraySlice<UInt8>)
    /// Pieces whose bytes are written as base64.
    case base64(Base64Form, [EvidencePiece])
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest first (LEB128).
    mutating func append(number: Int) {
        var rest = UInt64(clamping: number)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension ArraySlice<UInt8> {
    /// Takes a number of at most 56 bits from the front.
    mutating func popNumber() -> Int? {
        var (number, shift) = (0, 0)
        while let byte = popFirst() {
            guard shift < 56 else { return nil }
            number |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }
}
