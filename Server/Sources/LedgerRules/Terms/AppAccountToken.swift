package import struct Foundation.UUID

/// The UUID that an app attaches to a purchase to identify its customer (Apple, "appAccountToken").
public struct AppAccountToken: Sendable, Hashable, Comparable {
    /// The first 8 bytes, big-endian.
    public let high: UInt64
    /// The last 8 bytes, big-endian.
    public let low: UInt64

    /// A token with the given bytes.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads a UUID in upper or lower case (RFC 9562, 4); `nil` for other text.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(37))
        guard bytes.count == 36 else { return nil }
        var (words, digits): ([UInt64], Int) = ([0, 0], 0)
        for (position, byte) in bytes.enumerated() {
            if [8, 13, 18, 23].contains(position) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.value(ofHexadecimal: byte) else { return nil }
            words[digits / 16] = words[digits / 16] << 4 | digit
            digits += 1
        }
        self.init(high: words[0], low: words[1])
    }

    public static func < (left: AppAccountToken, right: AppAccountToken) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func value(ofHexadecimal byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}

extension AppAccountToken: CustomStringConvertible {
    /// The UUID in lower case, as the App Store writes it.
    public var description: String {
        let digits = bytes.hexadecimal
        var (text, rest) = ("", digits[...])
        for length in [8, 4, 4, 4, 12] {
            text += (text.isEmpty ? "" : "-") + rest.prefix(length)
            rest = rest.dropFirst(length)
        }
        return text
    }
}

extension AppAccountToken {
    /// The token as 16 bytes.
    package var uuid: UUID { UUID(bytes: bytes) ?? UUID() }

    fileprivate var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
    }

    /// A token from 16 bytes.
    package init(_ id: UUID) {
        self = withUnsafeBytes(of: id.uuid) { bytes in
            AppAccountToken(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
