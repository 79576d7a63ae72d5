import EvidenceMint
import Foundation
import TextFormats

/// The JSON object of a request. Its members have the names that they have in Swift: `bundleID` reads `bundle_id`.
@dynamicMemberLookup
struct RequestBody: Decodable {
    private let decoder: any Decoder
    private let members: KeyedDecodingContainer<StoreJSON.Name>

    init(from decoder: any Decoder) throws {
        self.decoder = decoder
        members = try decoder.container(keyedBy: StoreJSON.Name.self)
    }

    /// A member that is required. Where either fits, the other subscript is meant.
    @_disfavoredOverload
    subscript<Value: Decodable>(dynamicMember name: String) -> Value {
        get throws { try reading { try members.decode(Value.self, forKey: StoreJSON.Name(stringValue: name)) } }
    }

    /// A member that may be absent.
    subscript<Value: Decodable>(dynamicMember name: String) -> Value? {
        get throws {
            try reading { try members.decodeIfPresent(Value.self, forKey: StoreJSON.Name(stringValue: name)) }
        }
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value { try reading { try Value(from: decoder) } }

    /// Foundation makes its own errors, such as that of a number beyond every range, a `DecodingError` only while it
    /// decodes the whole body.
    private func reading<Value>(_ value: () throws -> Value) throws -> Value {
        do {
            return try value()
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "not JSON", underlyingError: error))
        }
    }

    /// Refuses other members, because a misspelled one would otherwise be ignored. Their length and number are bounded
    /// already (`WrittenJSON.checkLimits`).
    /// - Throws: `UnknownField`.
    static func check(_ json: Data, has members: [BodyMember]) throws {
        // What is no JSON is refused when the members are read.
        guard let value = try? JSONSerialization.jsonObject(with: json) else { return }
        try check(value, members, path: "")
    }

    private static func check(_ value: Any, _ members: [BodyMember], path: String) throws {
        if let values = value as? [Any] {
            for value in values { try check(value, members, path: path) }
        }
        guard let object = value as? [String: Any] else { return }
        for (name, value) in object.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            guard let member = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw UnknownField(path + name, known: members.map(\.name))
            }
            if !member.members.isEmpty { try check(value, member.members, path: "\(path)\(name).") }
        }
    }
}

/// The name of a member, and the members of its value if that is an object or an array of objects.
struct BodyMember: Sendable, ExpressibleByStringLiteral {
    let name: String
    let members: [BodyMember]

    init(_ name: String, _ members: [BodyMember]) { (self.name, self.members) = (name, members) }

    init(stringLiteral name: String) { self.init(name, []) }
}

/// A member or parameter that the request does not have.
struct UnknownField: Error {
    let words: String

    /// - Parameters:
    ///   - name: as the client wrote it, with the objects that it is in.
    ///   - known: the names that are allowed in its place.
    init(_ name: String, known: [String]) {
        let shown = name.unicodeScalars.prefix(80).map { $0.isASCII && $0.value >= 0x20 ? String($0) : "?" }.joined()
        let last = shown.split(separator: ".").last.map(String.init) ?? shown
        let suggestion = known.map { ($0, Self.distance(Self.plain($0), Self.plain(last))) }.min { $0.1 < $1.1 }
            .flatMap { $0.1 <= 2 ? "; did you mean '\($0.0)'?" : nil }
        words = "The field '\(shown)' is unknown\(suggestion ?? ".") Known fields: \(known.joined(separator: ", "))."
    }

    /// The name without the differences between `productId`, `product-id` and `product_id`.
    private static func plain(_ name: String) -> [UInt8] {
        name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
    }

    /// The number of letters to insert, delete or replace (Levenshtein). Names have at most 80 bytes.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (line, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in second.enumerated() {
                let above = row[column + 1]
                row[column + 1] = byte == other ? diagonal : 1 + min(diagonal, above, row[column])
                diagonal = above
            }
        }
        return row[second.count]
    }
}

/// JSON as the control API and the storage write it: keys in snake case and sorted, times in RFC 3339 and UTC.
enum StoreJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            Name(stringValue: path.last.map { camelCase($0.stringValue) } ?? "")
        }
        decoder.dateDecodingStrategy = .custom(date)
        return try decoder.decode(type, from: data)
    }

    private static func date(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let milliseconds = WrittenTime.milliseconds(text) else {
            throw MalformedValue.error(
                "'\(text.prefix(80))' is not a time such as 2026-01-31T12:00:00Z.", at: container.codingPath)
        }
        // The store counts whole seconds.
        return Date(timeIntervalSince1970: Double(milliseconds / 1000))
    }

    /// `transaction_id` is `transactionID`: Foundation's own strategy makes `transactionId` of it.
    private static func camelCase(_ key: String) -> String {
        let words = key.split(separator: "_")
        guard let first = words.first else { return key }
        return words.dropFirst().reduce(into: String(first)) { text, word in
            text += abbreviations[word] ?? word.prefix(1).uppercased() + word.dropFirst()
        }
    }

    private static let abbreviations: [Substring: String] = ["id": "ID", "ids": "IDs", "uuid": "UUID", "api": "API"]

    /// The name that a key has in JSON: `bundleID` is `bundle_id`.
    static func name(_ key: any CodingKey) -> String {
        guard key.intValue == nil else { return key.stringValue }
        var name = ""
        var wasUppercase = true
        for character in key.stringValue {
            if character.isUppercase, !wasUppercase { name += "_" }
            wasUppercase = character.isUppercase
            name += character.lowercased()
        }
        return name
    }

    /// A name of a member that is known only at run time.
    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// An object of an answer, member by member. A member that is nil is omitted.
struct Members: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    private let members: [(name: String, value: (any Encodable & Sendable)?)]

    init(dictionaryLiteral members: (String, (any Encodable & Sendable)?)...) { self.members = members }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: StoreJSON.Name.self)
        for (name, value) in members {
            if let value { try container.encode(value, forKey: StoreJSON.Name(stringValue: name)) }
        }
    }
}
