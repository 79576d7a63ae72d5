// The header `Idempotency-Key`.

import HTTPTypes
import Hummingbird

extension Request {
    /// The header `Idempotency-Key` of a request that must have one: without it, a repeated request could not be
    /// distinguished from a second one.
    func requiredIdempotencyKey() throws -> String {
        if let key = try idempotencyKey() { return key }
        throw Problem(
            .badRequest, "idempotency_key_missing",
            "Send the header Idempotency-Key with a text that is new for each intention, and the same in its repeats.",
            expected: "Idempotency-Key: 1 to 255 visible characters of ASCII")
    }

    /// The header `Idempotency-Key`, if it is present.
    func idempotencyKey() throws -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let key = headers[name] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem.parameter("Idempotency-Key", "1 to 255 visible characters of ASCII")
        }
        return key
    }
}
