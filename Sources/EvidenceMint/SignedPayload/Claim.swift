/// Any member of a signed payload: a name and a JSON value.
public struct Claim: Hashable, Sendable {
    /// The name, as Apple spells it: `transactionId`.
    public var name: String
    public var value: ClaimValue

    public init(_ name: String, _ value: ClaimValue) { (self.name, self.value) = (name, value) }
}

extension [Claim] {
    /// The first value with a name, here or in an object within.
    func value(_ name: String) -> ClaimValue? {
        for claim in self {
            if claim.name == name { return claim.value }
            if case .object(let members) = claim.value, let value = members.value(name) { return value }
        }
        return nil
    }

    /// Changes the first value with a name, here or in an object within; nil removes it.
    /// - Returns: whether the claim was present.
    @discardableResult
    mutating func change(_ name: String, _ change: (ClaimValue) -> ClaimValue?) -> Bool {
        for index in indices {
            if self[index].name == name {
                if let value = change(self[index].value) {
                    self[index].value = value
                } else {
                    remove(at: index)
                }
                return true
            }
            if case .object(var members) = self[index].value, members.change(name, change) {
                self[index].value = .object(members)
                return true
            }
        }
        return false
    }
}

/// A JSON value that keeps the order of its members (RFC 8259).
public indirect enum ClaimValue: Hashable, Sendable {
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// Any number, in the shortest form that reads back as the same; whole numbers without a fraction.
    case number(Double)
    case boolean(Bool)
    case null
    case array([ClaimValue])
    /// An object, with its members in this order, even if a name appears twice.
    case object([Claim])
    /// A text that is written unchanged, even if it is not JSON.
    case raw(String)
}

extension ClaimValue {
    /// The JSON text, without any white space.
    public var json: [UInt8] { json(escapesSlashes: false) }

    /// The JSON text, with a backslash before each slash if asked for, as Xcode writes it.
    func json(escapesSlashes: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, escapesSlashes)
        return bytes
    }

    private func append(to bytes: inout [UInt8], _ escapesSlashes: Bool) {
        switch self {
        case .string(let text): Self.append(text, to: &bytes, escapesSlashes)
        case .integer(let number): bytes += Array(String(number).utf8)
        case .number(let number): bytes += Array(Self.text(number).utf8)
        case .boolean(let value): bytes += Array(String(value).utf8)
        case .null: bytes += Array("null".utf8)
        case .raw(let text): bytes += Array(text.utf8)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes, escapesSlashes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes, escapesSlashes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes, escapesSlashes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }

    /// Escapes the characters that RFC 8259, 7 requires. The App Store does not escape slashes.
    private static func append(_ text: String, to bytes: inout [UInt8], _ escapesSlashes: Bool) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "/") where escapesSlashes: bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array((byte < 0x10 ? "\\u000" : "\\u00").utf8) + Array(String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
