// The parameters of the query and of the path, read strictly.

import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

extension Request {
    /// A parameter of the query, decoded; `nil` if it is absent. `QueryMiddleware` has refused a repeated one.
    ///
    /// Hummingbird's own dictionary hashes every name that was sent, and decodes every value.
    func value(_ name: StaticString) throws -> String? {
        for pair in (uri.query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let key = pair.prefix { $0 != UInt8(ascii: "=") }
            guard key.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)) else {
                continue
            }
            guard let value = PercentEncoding.decoded(pair.dropFirst(key.count + 1)) else {
                throw Problem.parameter("\(name)", "percent-encoded UTF-8")
            }
            return value
        }
        return nil
    }

    /// One of several words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: StaticString, _: Choice.Type
    ) throws -> Choice? where Choice.RawValue == String {
        guard let value = try value(name) else { return nil }
        guard let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(value.utf8) }) else {
            throw Problem.parameter("\(name)", Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    func identifier(_ name: StaticString) throws -> String? {
        guard let value = try value(name) else { return nil }
        guard ExactText(value).isIdentifier else {
            throw Problem.parameter("\(name)", "at most \(ExactText.identifierBytes) bytes without control characters")
        }
        return value
    }

    func uuid(_ name: StaticString) throws -> UUID? {
        guard let value = try value(name) else { return nil }
        guard value.utf8.count == 36, let id = UUID(uuidString: value) else {
            throw Problem.parameter("\(name)", "a UUID of 36 characters")
        }
        return id
    }

    func time(_ name: StaticString) throws -> Timestamp? {
        guard let value = try value(name) else { return nil }
        guard value.utf8.count <= 64, let time = Timestamp(value) else {
            throw Problem.parameter("\(name)", "a time such as 2026-11-21T10:00:00Z")
        }
        return time
    }

    /// The environment that the question is about.
    func environment(of app: RegisteredApp) throws -> AppStoreEnvironment? {
        try identifier("environment").map { try EnvironmentName(rawValue: $0).known(to: app) }
    }

    /// The maximum number of entries of a page.
    func limit(default limit: Int = 50) throws -> Int {
        guard let value = try value("limit") else { return limit }
        guard let limit = Int(value), (1...500).contains(limit) else {
            throw Problem.parameter("limit", "a whole number from 1 to 500")
        }
        return limit
    }
}

extension ServerContext {
    /// An identifier in the path.
    func identifier(_ name: String) throws -> String {
        let raw = try parameters.require(name)
        guard let text = PercentEncoding.decoded(raw.utf8), ExactText(text).isIdentifier else {
            throw Problem.parameter(name, "at most \(ExactText.identifierBytes) bytes without control characters")
        }
        return text
    }
}

extension ListCursor {
    /// The position in a list, as an opaque text.
    var text: String {
        Data(numbers.map(\.description).joined(separator: "\n").utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads such a text.
    init(text: String) throws {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 < 0x80 }) else { throw Problem.malformedCursor }
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding),
            let joined = String(data: data, encoding: .utf8)
        else { throw Problem.malformedCursor }
        let parts = joined.split(separator: "\n", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == parts.count, let cursor = Self(numbers: numbers) else { throw Problem.malformedCursor }
        self = cursor
    }
}

extension Problem {
    static var malformedCursor: Problem { parameter("cursor", "the next_cursor of an answer") }

    static func parameter(_ name: String, _ expected: String, found: String? = nil) -> Problem {
        Problem(
            .badRequest, DecisionCode.fieldMalformed.rawValue, DecisionCode.fieldMalformed.sentence,
            expected: "\(name): \(expected)", found: found)
    }
}

/// Percent-encoding in paths (RFC 3986, 2.1).
enum PercentEncoding {
    /// The text; `nil` if it is not UTF-8, or has an invalid percent-encoding.
    ///
    /// Foundation's decoding removes a byte order mark at the beginning, so the name would mean another customer.
    static func decoded(_ text: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
