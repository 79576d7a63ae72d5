/// Reads the members of a reply of `verifyReceipt`. A value of another type than Apple's counts as absent; numbers may
/// be strings, and strings numbers, because old replies and newer ones differ in that.
struct ReplyReader {
    private let document: WrittenJSON

    init(_ document: WrittenJSON) { self.document = document }

    func object(_ name: StaticString, of node: Int) -> Int? {
        document.value(name, of: node).flatMap { document.nodes[$0].kind == .object ? $0 : nil }
    }

    /// An array that has only objects.
    func objects(_ name: StaticString, of node: Int) -> [Int]? {
        guard let array = document.value(name, of: node), document.nodes[array].kind == .array else { return nil }
        let elements = document.elements(of: array)
        return elements.allSatisfy { document.nodes[$0].kind == .object } ? elements : nil
    }

    /// The bytes of a string or a number.
    func bytes(_ name: StaticString, of node: Int) -> [UInt8]? {
        guard let value = document.value(name, of: node) else { return nil }
        switch document.nodes[value].kind {
        case .string, .number: return document.text(of: value)
        case .object, .array, .word: return nil
        }
    }

    func text(_ name: StaticString, of node: Int) -> String? {
        bytes(name, of: node).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A whole number of at most 64 bits, without a sign; exact beyond 2^53.
    func number(_ name: StaticString, of node: Int) -> UInt64? {
        bytes(name, of: node).flatMap(Self.number)
    }

    /// A small whole number.
    func integer(_ name: StaticString, of node: Int) -> Int? {
        number(name, of: node).flatMap { Int(exactly: $0) }
    }

    /// `true`, `"true"`, `"1"` or `1`, and the opposites.
    func flag(_ name: StaticString, of node: Int) -> Bool? {
        guard let value = document.value(name, of: node), document.nodes[value].range.count <= 7 else { return nil }
        switch String(decoding: document.text(of: value), as: UTF8.self) {
        case "true", "1": return true
        case "false", "0": return false
        default: return nil
        }
    }

    /// A date: its milliseconds, or otherwise its text in Greenwich time.
    func date(_ name: StaticString, _ millisecondsName: StaticString, of node: Int) -> AppleDate? {
        if let milliseconds = number(millisecondsName, of: node), milliseconds <= Self.lastDate {
            return AppleDate(millisecondsSince1970: Int64(milliseconds))
        }
        return bytes(name, of: node).flatMap { AppleDate(greenwich: $0) }
    }

    /// 9999-12-31T23:59:59.999Z.
    private static let lastDate: UInt64 = 253_402_300_799_999

    /// All members of an object that are strings.
    func texts(of node: Int) -> [FlatReceipt.Member] {
        var members: [FlatReceipt.Member] = []
        document.forEachMember(of: node) { name, value in
            guard document.nodes[value].kind == .string else { return }
            members.append(
                FlatReceipt.Member(
                    key: String(decoding: document.text(of: name), as: UTF8.self),
                    value: String(decoding: document.text(of: value), as: UTF8.self)))
        }
        return members
    }

    private static func number(_ digits: [UInt8]) -> UInt64? {
        guard (1...20).contains(digits.count) else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(UInt64(digit - 0x30))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }
}
