import Foundation

/// A transaction receipt that is split independently of the core, as loosely as a search for two strings allows, and
/// can be joined again with other parts.
public struct LooseTransactionReceipt: Sendable {
    /// The decoded signature field.
    public var field: [UInt8]
    public var purchaseInfo: [UInt8]

    public init?(_ list: [UInt8]) {
        guard let field = Self.value("signature", list), let purchaseInfo = Self.value("purchase-info", list) else {
            return nil
        }
        (self.field, self.purchaseInfo) = (field, purchaseInfo)
    }

    /// A list of the usual form.
    public var bytes: [UInt8] {
        let (field, purchaseInfo) = (Data(field).base64EncodedString(), Data(purchaseInfo).base64EncodedString())
        return Array("{\n\t\"signature\" = \"\(field)\";\n\t\"purchase-info\" = \"\(purchaseInfo)\";\n}".utf8)
    }

    public var version: UInt8? { field.first }

    /// `purchase-date-ms`, in whole seconds; `nil` if it is not a number.
    public var purchaseSeconds: Int64? {
        let text = String(decoding: purchaseInfo, as: UTF8.self)
        guard let name = text.range(of: "\"purchase-date-ms\""),
            let open = text[name.upperBound...].firstIndex(of: "\"")
        else { return nil }
        return Int64(text[text.index(after: open)...].prefix { $0 != "\"" }).map { $0 / 1000 }
    }

    /// Signature and certificate; `nil` if the field is too short for its version.
    public var parts: (signature: [UInt8], certificate: [UInt8])? {
        let size = version == 2 ? 128 : 256
        guard field.count > size + 5 else { return nil }
        return (Array(field[1...size]), Array(field[(size + 5)...]))
    }

    /// The same with another certificate and its correct length.
    public func with(certificate: [UInt8]) -> LooseTransactionReceipt {
        guard let parts, let version else { return self }
        var result = self
        let length = (0..<4).map { UInt8(truncatingIfNeeded: certificate.count >> (24 - 8 * $0)) }
        result.field = [version] + parts.signature + length + certificate
        return result
    }

    private static func value(_ key: String, _ list: [UInt8]) -> [UInt8]? {
        let text = String(decoding: list, as: UTF8.self)
        guard let name = text.range(of: "\"\(key)\""), let open = text[name.upperBound...].firstIndex(of: "\""),
            let close = text[text.index(after: open)...].firstIndex(of: "\"")
        else { return nil }
        return Data(base64Encoded: String(text[text.index(after: open)..<close])).map { [UInt8]($0) }
    }
}

/// A compact JWS that is split and can be joined again with other parts.
public struct LooseJWS: Sendable {
    public var header: [UInt8]
    public var payload: [UInt8]
    public var signature: [UInt8]

    public init(header: [UInt8], payload: [UInt8], signature: [UInt8]) {
        (self.header, self.payload, self.signature) = (header, payload, signature)
    }

    public init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { part in
            Data(base64Encoded: Self.padded(String(decoding: part, as: UTF8.self))).map { [UInt8]($0) }
        }
        guard parts.count == 3, let header = parts[0], let payload = parts[1], let signature = parts[2] else {
            return nil
        }
        (self.header, self.payload, self.signature) = (header, payload, signature)
    }

    public var bytes: [UInt8] { signingInput + [UInt8(ascii: ".")] + Self.encoded(signature) }

    /// The bytes that the signature covers.
    public var signingInput: [UInt8] { Self.encoded(header) + [UInt8(ascii: ".")] + Self.encoded(payload) }

    /// The certificates of the header.
    public var certificates: [[UInt8]] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(header)) as? [String: Any],
            let texts = object["x5c"] as? [String]
        else { return [] }
        return texts.compactMap { Data(base64Encoded: $0).map { [UInt8]($0) } }
    }

    /// The header as Apple writes it.
    public static func header(_ certificates: [[UInt8]]) -> [UInt8] {
        let texts = certificates.map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ",")
        return Array("{\"alg\":\"ES256\",\"x5c\":[\(texts)]}".utf8)
    }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        Data(bytes).base64EncodedData().compactMap { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: character
            }
        }
    }

    private static func padded(_ text: String) -> String {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
    }
}
