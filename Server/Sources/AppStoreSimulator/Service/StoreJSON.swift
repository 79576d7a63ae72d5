import EvidenceMint
import Foundation
import TextFormats

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
            StoreKey(stringValue: path.last.map { camelCase($0.stringValue) } ?? "")
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
        return words.dropFirst().reduce(into: first == "id" ? "id" : String(first)) { text, word in
            text += word == "id" ? "ID" : word == "uuid" ? "UUID" : word.prefix(1).uppercased() + word.dropFirst()
        }
    }

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

    private struct StoreKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
