public import PurchaseVerification

/// Text from outside, compared and hashed byte by byte.
///
/// `String` treats canonically equivalent texts as equal, which two databases and the journal do not, and its
/// comparison of hostile text takes quadratic time. So ids, offers and currencies are never compared as `String`.
public struct ExactText: Sendable, Hashable, Comparable {
    /// The text itself.
    public let string: String

    /// Creates a text.
    public init(_ string: String) { self.string = string }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        guard left.string.utf8.count == right.string.utf8.count else { return false }
        // Over memory: iterating over character indices takes ten times as long.
        var (left, right) = (left.string, right.string)
        return left.withUTF8 { left in right.withUTF8 { isEqual(left, $0) } }
    }

    /// Whether texts are equal, eight bytes at a time.
    private static func isEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        let (left, right) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
        let end = left.count & ~7
        for place in stride(from: 0, to: end, by: 8)
        where left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            != right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        {
            return false
        }
        return left[end...].elementsEqual(right[end...])
    }

    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The maximum length of an identifier, in bytes of UTF-8. Those of the App Store have at most 100 characters.
    public static let identifierBytes = 256

    /// Whether the text can be an identifier: not empty, not only white space, short, and without control characters,
    /// which can mislead readers of logs and some of which PostgreSQL refuses.
    public var isIdentifier: Bool {
        (1...Self.identifierBytes).contains(string.utf8.count)
            && !string.unicodeScalars.allSatisfy(\.properties.isWhitespace)
            && !string.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// The order of ids made of digits: by value, so that `9` comes before `10`.
    public static func isNumericallyBefore(_ left: ExactText, _ right: ExactText) -> Bool {
        let (leftCount, rightCount) = (left.string.utf8.count, right.string.utf8.count)
        return leftCount == rightCount ? left < right : leftCount < rightCount
    }
}

extension ExactText: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { string = value }
}

extension ExactText: CustomStringConvertible {
    public var description: String { string }
}

/// A time, under the name that the ledger uses for it. `PurchaseVerification` does not: its names are also those of
/// apps.
public typealias Timestamp = AppStoreTime
