import Testing

/// Reads the simulator's bytes without any code of the simulator. It supports definite and indefinite lengths.
struct ASN1Element {
    let tag: UInt8
    let isIndefinite: Bool
    let content: [UInt8]
    /// Tag, length and content.
    let encoded: [UInt8]

    struct Malformed: Error {}

    init(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        self = try Self.read(&rest)
        guard rest.isEmpty else { throw Malformed() }
    }

    /// The elements in the content.
    func children() throws -> [ASN1Element] {
        var rest = content[...]
        var elements: [ASN1Element] = []
        while !rest.isEmpty {
            elements.append(try Self.read(&rest))
        }
        return elements
    }

    /// The descendant at the path of indices.
    func descend(_ path: Int...) throws -> ASN1Element {
        try path.reduce(self) { element, index in
            let children = try element.children()
            guard children.indices.contains(index) else { throw Malformed() }
            return children[index]
        }
    }

    /// The content as an unsigned number.
    var number: Int {
        content.reduce(0) { $0 << 8 | Int($1) }
    }

    var text: String {
        String(decoding: content, as: UTF8.self)
    }

    private init(tag: UInt8, isIndefinite: Bool, content: [UInt8], encoded: [UInt8]) {
        self.tag = tag
        self.isIndefinite = isIndefinite
        self.content = content
        self.encoded = encoded
    }

    private static func read(_ rest: inout ArraySlice<UInt8>) throws -> ASN1Element {
        let start = rest
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { throw Malformed() }
        if first == 0x80 {
            let body = rest
            while !rest.starts(with: [0x00, 0x00]) {
                _ = try read(&rest)
            }
            let content = Array(body.prefix(body.count - rest.count))
            rest = rest.dropFirst(2)
            let encoded = Array(start.prefix(start.count - rest.count))
            return ASN1Element(tag: tag, isIndefinite: true, content: content, encoded: encoded)
        }
        var length = Int(first)
        if first > 0x80 {
            let octets = rest.prefix(Int(first & 0x7F))
            guard octets.count == Int(first & 0x7F) else { throw Malformed() }
            length = octets.reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(octets.count)
        }
        guard rest.count >= length else { throw Malformed() }
        let content = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        let encoded = Array(start.prefix(start.count - rest.count))
        return ASN1Element(tag: tag, isIndefinite: false, content: content, encoded: encoded)
    }
}

/// One attribute of a payload, as read.
struct ReadAttribute {
    let type: Int
    let version: Int
    let value: [UInt8]
    let encoded: [UInt8]

    /// All attributes of a payload, or of the value of attribute 17.
    static func all(_ payload: [UInt8]) throws -> [ReadAttribute] {
        let set = try ASN1Element(payload)
        #expect(set.tag == 0x31)
        return try set.children().map { element in
            let parts = try element.children()
            try #require(element.tag == 0x30 && parts.map(\.tag) == [0x02, 0x02, 0x04])
            return ReadAttribute(
                type: parts[0].number, version: parts[1].number, value: parts[2].content, encoded: element.encoded
            )
        }
    }

    /// The value as text, if it is a string.
    func text() throws -> String {
        try ASN1Element(value).text
    }
}

extension [ReadAttribute] {
    subscript(type type: Int) -> ReadAttribute? {
        first { $0.type == type }
    }
}
