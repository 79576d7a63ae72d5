#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the claims of one JSON object by name, and notes which ones, so that the others can be kept.
struct ClaimReader {
    private let document: JSONDocument
    /// The place of the object.
    private let object: Int
    /// The place of the member after the latest one that was found: most claims occur in the order in which they are
    /// read.
    private var expected: Int
    private var read: PlaceSet

    /// The claims of a whole document.
    init(_ json: [UInt8]) throws(VerificationError) {
        let document: JSONDocument
        do throws(StrictJSON.Flaw) {
            document = try JSONDocument(json)
        } catch {
            throw VerificationError(.claimsMalformed, expected: error.expected)
        }
        try self.init(document, object: 0)
    }

    private init(_ document: JSONDocument, object: Int) throws(VerificationError) {
        guard object < document.nodes.count, document.nodes[object].kind == .object else {
            throw VerificationError(.claimsMalformed, expected: "a JSON object")
        }
        self.document = document
        self.object = object
        expected = object + 1
        read = PlaceSet(upTo: Int(document.nodes[object].next) - object)
    }

    /// Whether there is a claim of this name.
    func has(_ name: StaticString) -> Bool { place(of: name) != nil }

    // A claim on which a check or a decision rests. It may be absent or `null`, but not of another type.

    mutating func claim(_ name: StaticString) throws(VerificationError) -> String? {
        try claim(name, "String") { document, place in document.text(document.nodes[place]) }
    }

    mutating func claim(_ name: StaticString) throws(VerificationError) -> Int64? {
        try claim(name, "Int64") { document, place in document.integer(document.nodes[place]) }
    }

    mutating func claim(_ name: StaticString) throws(VerificationError) -> UInt64? {
        try claim(name, "UInt64") { document, place in document.integer(document.nodes[place]) }
    }

    mutating func claim(_ name: StaticString) throws(VerificationError) -> Bool? {
        try claim(name, "Bool") { document, place in document.boolean(document.nodes[place]) }
    }

    mutating func claim(_ name: StaticString) throws(VerificationError) -> [String]? {
        try claim(name, "[String]") { document, place in document.texts(at: place) }
    }

    /// Two claims of which one without the other has no meaning; empty if the object has neither.
    ///
    /// - Throws: `attribute_missing` if one is absent, or if one is an empty text.
    mutating func identifiers(
        _ first: StaticString, _ second: StaticString
    ) throws(VerificationError) -> (String, String) {
        let texts: (String?, String?) = (try claim(first), try claim(second))
        if texts.0 == nil, texts.1 == nil { return ("", "") }
        guard let one = texts.0, !one.isEmpty else {
            throw VerificationError(.attributeMissing, expected: "\(first)")
        }
        guard let other = texts.1, !other.isEmpty else {
            throw VerificationError(.attributeMissing, expected: "\(second)")
        }
        return (one, other)
    }

    /// A claim that is a UUID (RFC 9562, 4). Text of another form is kept unread among the other claims.
    mutating func uuid(_ name: StaticString) throws(VerificationError) -> UUID? {
        let text: String? = try claim(name)
        guard let text, let uuid = text.isUUID ? UUID(uuidString: text) : nil else {
            if text != nil, let place = place(of: name) { read.remove(place - object) }
            return nil
        }
        return uuid
    }

    /// The claims of an object inside, read by the closure.
    mutating func object<Value>(
        _ name: StaticString, _ read: (inout ClaimReader) throws(VerificationError) -> Value
    ) throws(VerificationError) -> Value? {
        guard let place = find(name), document.nodes[place].kind != .null else { return nil }
        var inner = try ClaimReader(document, object: place)
        return try read(&inner)
    }

    @inline(__always)
    private mutating func claim<Value>(
        _ name: StaticString, _ type: StaticString, _ value: (JSONDocument, Int) -> Value?
    ) throws(VerificationError) -> Value? {
        guard let place = find(name), document.nodes[place].kind != .null else { return nil }
        guard let value = value(document, place) else {
            throw VerificationError(.claimsMalformed, expected: "\(name) as \(type)", found: "another type")
        }
        return value
    }

    // A purely descriptive claim: if its type differs from the expected one, it is kept unread among the other claims.

    mutating func description(_ name: StaticString) -> String? {
        description(name) { document, place in document.text(document.nodes[place]) }
    }

    mutating func description(_ name: StaticString) -> Int64? {
        description(name) { document, place in document.integer(document.nodes[place]) }
    }

    mutating func description(_ name: StaticString) -> UInt64? {
        description(name) { document, place in document.integer(document.nodes[place]) }
    }

    mutating func description(_ name: StaticString) -> [String]? {
        description(name) { document, place in document.texts(at: place) }
    }

    mutating func description(_ name: StaticString) -> JSONValue? {
        description(name) { document, place in document.value(at: place) }
    }

    /// The seats of a subscription.
    mutating func description(_ name: StaticString) -> MultiSeatInfo? {
        description(name) { document, place in document.value(at: place).flatMap(MultiSeatInfo.init) }
    }

    @inline(__always)
    private mutating func description<Value>(
        _ name: StaticString, _ value: (JSONDocument, Int) -> Value?
    ) -> Value? {
        guard let place = find(name), document.nodes[place].kind != .null else { return nil }
        let value = value(document, place)
        if value == nil { read.remove(place - object) }
        return value
    }

    /// A moment in milliseconds since 1970, whole from Apple and with a fraction from Xcode.
    mutating func date(_ name: StaticString) throws(VerificationError) -> AppStoreTime? {
        let number: Double? = try claim(name, "Double") { document, place in document.number(document.nodes[place]) }
        guard let milliseconds = number else { return nil }
        guard let moment = AppStoreTime(signedMilliseconds: milliseconds) else {
            throw VerificationError(
                .claimsMalformed, expected: "milliseconds since 1970 as \(name)", found: "\(milliseconds)")
        }
        return moment
    }

    /// A value of an open set.
    mutating func open<Value: OpenValue>(
        _ name: StaticString, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? where Value.RawValue == String {
        guard let raw: String = try claim(name) else { return nil }
        guard raw.isOpenValue else {
            throw VerificationError(
                .claimsMalformed,
                expected: "at most \(VerificationBudget.openValueBytes) ASCII characters as \(name)", found: raw)
        }
        return Value(rawValue: raw)
    }

    mutating func open<Value: OpenValue>(
        _ name: StaticString, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? where Value.RawValue == Int64 {
        guard let raw: Int64 = try claim(name) else { return nil }
        return Value(rawValue: raw)
    }

    /// A purely descriptive value of an open set.
    mutating func openDescription<Value: OpenValue>(_ name: StaticString, _ type: Value.Type = Value.self) -> Value?
    where Value.RawValue == String {
        let raw: String? = description(name) { document, place in
            document.text(document.nodes[place]).flatMap { $0.isOpenValue ? $0 : nil }
        }
        return raw.flatMap(Value.init)
    }

    mutating func openDescription<Value: OpenValue>(_ name: StaticString, _ type: Value.Type = Value.self) -> Value?
    where Value.RawValue == Int64 {
        guard let raw: Int64 = description(name) else { return nil }
        return Value(rawValue: raw)
    }

    /// The claims that were not read, unchanged.
    func others() throws(VerificationError) -> [String: JSONValue] {
        var others: [String: JSONValue] = [:]
        var place = object + 1
        let end = self.end
        while place < end {
            let node = document.nodes[place]
            if !read.contains(place - object) {
                guard let value = document.value(at: place) else {
                    throw VerificationError(.claimsMalformed, expected: "JSON", found: document.name(node))
                }
                others[document.name(node)] = value
            }
            place = Int(node.next)
        }
        return others
    }

    /// The place of the claim, which then counts as read.
    private mutating func find(_ name: StaticString) -> Int? {
        guard let place = place(of: name) else { return nil }
        expected = Int(document.nodes[place].next)
        read.insert(place - object)
        return place
    }

    private func place(of name: StaticString) -> Int? {
        place(of: name, in: expected..<end) ?? place(of: name, in: (object + 1)..<expected)
    }

    private func place(of name: StaticString, in members: Range<Int>) -> Int? {
        let bytes = document.bytes[...]
        let nodes = document.nodes[...]
        return name.withUTF8Buffer { (name: UnsafeBufferPointer<UInt8>) in
            Self.place(of: name.span, in: members, nodes.span, bytes.span)
        }
    }

    private static func place(
        of name: Span<UInt8>, in members: Range<Int>, _ nodes: Span<JSONNode>, _ bytes: Span<UInt8>
    ) -> Int? {
        var place = members.lowerBound
        while place < members.upperBound {
            let node = nodes[place]
            if bytes.isEqual(node.name, name) { return place }
            place = Int(node.next)
        }
        return nil
    }

    /// The place behind the last member.
    private var end: Int { Int(document.nodes[object].next) }
}

/// A set of small numbers.
private struct PlaceSet {
    private var words: [UInt64]

    init(upTo limit: Int) { words = Array(repeating: 0, count: limit / 64 + 1) }

    func contains(_ place: Int) -> Bool { words[place / 64] & Self.bit(place) != 0 }

    mutating func insert(_ place: Int) { words[place / 64] |= Self.bit(place) }

    mutating func remove(_ place: Int) { words[place / 64] &= ~Self.bit(place) }

    private static func bit(_ place: Int) -> UInt64 { 1 << UInt64(place & 63) }
}

extension String {
    /// Whether the text is a UUID in its only form: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    /// `UUID(uuidString:)` of some systems reads more.
    fileprivate var isUUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { position, byte in
                switch position {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default:
                    switch byte {
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                        UInt8(ascii: "A")...UInt8(ascii: "F"):
                        true
                    default: false
                    }
                }
            }
    }
}

extension AppStoreTime {
    /// Rounded down to the millisecond; `nil` outside of the years that a claim may name. Dates before 1970 are
    /// accepted here: Xcode writes one for an absent date, and no certificate was valid before 1970.
    init?(signedMilliseconds: Double) {
        guard signedMilliseconds >= Double(VerificationBudget.earliestMilliseconds),
            signedMilliseconds < Double(VerificationBudget.latestMilliseconds)
        else { return nil }
        self.init(millisecondsSince1970: Int64(signedMilliseconds.rounded(.down)))
    }
}
