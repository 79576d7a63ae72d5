import PurchaseVerification

import struct Foundation.UUID

/// A value of a column or a parameter.
public enum LedgerValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Text, or null.
    static func text(_ text: String?) -> LedgerValue { text.map(LedgerValue.text) ?? .null }
    /// A number, or null.
    static func integer(_ number: Int64?) -> LedgerValue { number.map(LedgerValue.integer) ?? .null }
    /// Bytes, or null.
    static func blob(_ bytes: [UInt8]?) -> LedgerValue { bytes.map(LedgerValue.blob) ?? .null }
    /// Milliseconds since 1970, or null.
    static func time(_ time: Timestamp?) -> LedgerValue { .integer(time?.millisecondsSince1970) }
    /// 1 or 0.
    static func flag(_ flag: Bool) -> LedgerValue { .integer(flag ? 1 : 0) }
    /// The 16 bytes of a UUID, or null.
    static func id(_ id: UUID?) -> LedgerValue { .blob(id?.bytes) }

    /// The parameters of a list of values in a statement without others: `?1, ?2, ?3`.
    static func places(_ count: Int) -> String { (0..<count).map { "?\($0 + 1)" }.joined(separator: ", ") }
}
