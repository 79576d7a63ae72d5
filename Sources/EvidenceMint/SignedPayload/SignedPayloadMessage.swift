import Foundation

/// A JWS in its compact form (RFC 7515, 7.1), as free as its parts allow.
struct SignedPayloadMessage {
    var header: [UInt8]
    var payload: [UInt8]
    var signature: [UInt8] = []
    var padsBase64 = false
    /// The text after the signature.
    var tail = ""
    /// The number of characters missing from the end.
    var missing = 0

    /// The signing input: header, full stop and payload.
    var signedBytes: [UInt8] {
        Array((base64(header) + "." + base64(payload)).utf8)
    }

    func encoded() -> String {
        String((base64(header) + "." + base64(payload) + "." + base64(signature)).dropLast(missing)) + tail
    }

    /// Base64 in the alphabet for URLs, without padding (RFC 4648, 5).
    private func base64(_ bytes: [UInt8]) -> String {
        var text = [UInt8](Data(bytes).base64EncodedData())
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        if !padsBase64 {
            while text.last == UInt8(ascii: "=") { text.removeLast() }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
