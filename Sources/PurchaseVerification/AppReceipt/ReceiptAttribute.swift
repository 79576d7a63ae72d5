/// An attribute of the receipt, unchanged, for callers that need more than the typed accessors.
public struct ReceiptAttribute: Sendable, Hashable {
    /// The attribute type; from 1701 on it belongs to a purchase.
    public let type: Int64
    /// The version that the receipt states for it.
    public let version: Int64
    /// The bytes of the value: a DER element for most types, raw bytes for 4 to 7.
    public let value: [UInt8]

    /// The decoded value, by its own encoding.
    public enum Content: Sendable {
        case text(String)
        case number(UInt64)
        case bytes([UInt8])
    }

    /// The value read by its own form: a string, a number, or bytes that are neither.
    public var content: Content {
        // The raw values could begin like a DER element by chance.
        guard !(4...7).contains(type) else { return .bytes(value) }
        let slice = value[...]
        let bytes = slice.span
        var cursor = DERCursor(0..<value.count)
        do throws(VerificationError) {
            let element = try cursor.next(bytes)
            try cursor.finish()
            switch element.tag {
            case DERTag.utf8String, DERTag.ia5String:
                guard bytes.extracting(element.content).isUTF8 else { break }
                return .text(String(decoding: value[element.content], as: UTF8.self))
            case DERTag.integer:
                guard let number = try DERInteger.uint64(bytes, element.content) else { break }
                return .number(number)
            default: break
            }
        } catch {
            // Not a DER element: then it is bytes.
        }
        return .bytes(value)
    }
}

extension ReceiptAttribute.Content: Equatable {
    /// Compares texts byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.isSame(as: right)
        case (.number(let left), .number(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }
}
