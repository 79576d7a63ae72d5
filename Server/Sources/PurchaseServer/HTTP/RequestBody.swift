import Foundation
import Hummingbird
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// Reads bodies within the limits of one of them and of all together.
final class BodyReader: Sendable {
    private let bodyBytes: Int
    private let bufferedBytes: Int
    private let held = Atomic(0)

    init(_ limits: ServerConfiguration.Limits) {
        bodyBytes = limits.bodyBytes
        bufferedBytes = limits.bufferedBytes
    }

    /// Reads the body, and keeps it counted until it was used.
    func withBody<Value>(of request: Request, _ use: (Data) async throws -> Value) async throws -> Value {
        var taken = 0
        defer { held.subtract(taken, ordering: .relaxed) }
        var body = Data()
        for try await part in request.body {
            let count = part.readableBytes
            guard body.count + count <= bodyBytes else {
                throw BodyTooLarge(limit: bodyBytes)
            }
            taken += count
            guard held.add(count, ordering: .relaxed).newValue <= bufferedBytes else {
                throw Problem(
                    .serviceUnavailable, "server_busy", "Too many bodies are held at the same time.", retryAfter: 1)
            }
            body.append(contentsOf: part.readableBytesView)
        }
        return try await use(body)
    }
}

/// A body is larger than the server takes; where purchases are submitted, that is recorded.
struct BodyTooLarge: Error {
    let rejection: Rejection

    init(limit: Int) {
        rejection = Rejection(.bodyTooLarge, expected: "at most \(limit) bytes")
    }
}

/// The members of a JSON object, taken out one by one; the first that is wrong is remembered with its name.
struct RequestFields {
    private let members: [String: Any]
    /// What is wrong; a rejection, since purchases that are wrong are recorded all the same.
    private(set) var flaw: Rejection?

    /// The members of a body. One that is not a JSON object has none, and a flaw.
    init(_ body: Data) {
        if let excess = JSONBounds.excess(of: body.span) {
            members = [:]
            flaw = Rejection(.bodyMalformed, expected: excess, found: "more than that")
            return
        }
        let object: Any?
        do {
            object = body.isEmpty ? [String: Any]() : try JSONSerialization.jsonObject(with: body)
        } catch {
            object = nil
        }
        members = object as? [String: Any] ?? [:]
        if !(object is [String: Any]) {
            flaw = Rejection(.bodyMalformed, expected: "a JSON object", found: "\(body.count) bytes that are none")
        }
    }

    /// A string; `nil` if it is absent, null, or of another type.
    mutating func text(_ name: String) -> String? {
        guard let value = present(name) else { return nil }
        guard let text = value as? String else {
            note(name, "a string")
            return nil
        }
        return text
    }

    /// A whole number within bounds; `nil` if it is absent, null, or something else.
    mutating func number(_ name: String, in bounds: ClosedRange<Int64>) -> Int64? {
        guard let value = present(name) else { return nil }
        guard let number = value as? NSNumber, !Self.isBoolean(number), let whole = Int64(exactly: number.doubleValue),
            bounds.contains(whole)
        else {
            note(name, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
            return nil
        }
        return whole
    }

    /// A small object of strings; `nil` if it is absent, null, or something else.
    mutating func texts(_ name: String) -> [String: String]? {
        guard let value = present(name) else { return nil }
        guard let texts = value as? [String: String], texts.count <= 20,
            texts.allSatisfy({ Self.isText($0.key, limit: 40) && Self.isText($0.value, limit: 200) })
        else {
            note(name, "an object of at most 20 strings, of at most 200 characters, with names of at most 40")
            return nil
        }
        return texts
    }

    private static func isText(_ text: String, limit: Int) -> Bool {
        text.unicodeScalars.count <= limit && !text.unicodeScalars.contains("\0")
    }

    /// An identifier that must be there; empty if it is not, and then there is a flaw.
    mutating func identifier(_ name: String) -> String {
        guard let text = optionalIdentifier(name) else {
            if flaw == nil { flaw = Rejection(.fieldMissing, expected: name) }
            return ""
        }
        return text
    }

    /// An identifier, if it is there.
    mutating func optionalIdentifier(_ name: String) -> String? {
        guard let text = text(name) else { return nil }
        guard !text.isEmpty else {
            if flaw == nil { flaw = Rejection(.fieldMissing, expected: name) }
            return nil
        }
        guard LedgerText.isIdentifier(text) else {
            note(name, "at most \(LedgerText.identifierBytes) bytes without control characters")
            return nil
        }
        return text
    }

    /// - Throws: a problem that names what is wrong, if anything is.
    func require() throws {
        if let flaw { throw Problem(flaw) }
    }

    private func present(_ name: String) -> Any? {
        guard let value = members[name], !(value is NSNull) else { return nil }
        return value
    }

    private mutating func note(_ name: String, _ expected: String) {
        if flaw == nil { flaw = Rejection(.fieldMalformed, expected: "\(name): \(expected)") }
    }

    /// JSON's `true` and `false` come as numbers, too.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c"
    }
}
