/// One attribute of a receipt or of a purchase in it, any of them.
public struct RawAttribute: Hashable, Sendable {
    /// The number of the attribute, such as 2 for the bundle identifier.
    public var type: Int
    /// 1 for all that are known but number 4, which has 2.
    public var version: Int
    /// The content of the OCTET STRING: one DER value, or raw bytes in attributes 4 to 7.
    public var value: [UInt8]

    /// An attribute with any content.
    public init(type: Int, version: Int = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    /// An attribute that holds a UTF8String.
    public static func utf8(_ type: Int, _ text: String) -> RawAttribute {
        RawAttribute(type: type, value: DER.utf8String(text))
    }

    /// An attribute that holds an IA5String, as dates and the age rating do.
    public static func ia5(_ type: Int, _ text: String) -> RawAttribute {
        RawAttribute(type: type, value: DER.ia5String(text))
    }

    /// An attribute that holds an INTEGER.
    public static func integer(_ type: Int, _ number: UInt64) -> RawAttribute {
        RawAttribute(type: type, value: DER.integer(number))
    }

    /// The whole element: SEQUENCE { type, version, OCTET STRING }.
    public var der: [UInt8] {
        DER.sequence(
            DER.integer(UInt64(max(0, type))),
            DER.integer(UInt64(max(0, version))),
            DER.octetString(value)
        )
    }
}
