/// A shorter form of the JSON of journal entries. Common fragments become one byte below 0x20, which JSON without white
/// space never contains (RFC 8259, section 7). If the first byte is zero, the rest is the unchanged JSON.
///
/// The journal's hashes cover the JSON, not this form.
package enum JSONShorthand {
    /// More is never written; a row that expands to more was tampered with.
    private static let largest = 64 << 20

    /// The fragment of byte 1, of byte 2 and so on. The list never changes, because stored entries need it.
    package static let fragments: [[UInt8]] = [
        #"{"customer":""#, #"","evidenceKind":"signed_transaction"#, #"","evidenceKind":"app_receipt"#,
        #"","evidenceKind":""#, #"","isRestore":false,"keyID":""#, #"","isRestore":"#,
        #"","outcomes":[{"binds":true,"code":"accepted","environment":"Production","transactionID":""#,
        #"","outcomes":[{"binds":"#, #"true,"code":"accepted","environment":"Sandbox","transactionID":""#,
        #""}],"productID":""#, #"","replayed":false,"sourceAddress":""#, #""replayed":"#, #""sourceAddress":""#,
        #"","transactionID":""#, #"","transfer":"deny"}"#, #"","transfer":""#, #"","order":""#, #","quantity":"#,
        #""environment":"Production""#, #""code":""#, #""productID":""#, #""expiresAt":"#,
        #"{"assignsToken":false,"customer":""#, #"","token":""#, #"{"evidenceKind":""#, #"","source":"notification"}"#,
        #"","outcomes":[{"binds":true,"code":"accepted","environment":"Production","transactionID":""}],"productID":""#,
        #""keyID":""#, #""takes":[{"#, #""consumptionID":""#, #""units":"#,
    ].map { Array($0.utf8) }

    /// The bytes of fragments by their first character, the longest first.
    private static let candidates: [[UInt8]] = {
        var candidates = [[UInt8]](repeating: [], count: 256)
        for (index, fragment) in fragments.enumerated().sorted(by: { $0.element.count > $1.element.count }) {
            candidates[Int(fragment[0])].append(UInt8(index + 1))
        }
        return candidates
    }()

    /// The shorter form of JSON.
    package static func shortened(_ json: [UInt8]) -> [UInt8] {
        guard json.allSatisfy({ $0 >= 0x20 }) else { return [0] + json }
        let (candidates, fragments) = (candidates, fragments)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count)
        var position = 0
        while position < json.count {
            let first = json[position]
            let code = candidates[Int(first)].first { code in
                let fragment = fragments[Int(code) - 1]
                guard fragment.count <= json.count - position else { return false }
                for offset in fragment.indices where fragment[offset] != json[position + offset] { return false }
                return true
            }
            bytes.append(code ?? first)
            position += code.map { fragments[Int($0) - 1].count } ?? 1
        }
        return bytes
    }

    /// The JSON of stored bytes. Bytes that `shortened` does not write are returned unchanged, so that no hash matches
    /// them.
    static func json(_ stored: [UInt8]) -> [UInt8] {
        guard let json = expanded(stored), shortened(json) == stored else { return stored }
        return json
    }

    /// The JSON of a shorter form; `nil` if it has too many bytes.
    package static func expanded(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.first == 0 { return Array(bytes.dropFirst()) }
        var json: [UInt8] = []
        json.reserveCapacity(bytes.count * 3)
        for byte in bytes {
            if byte > 0, byte <= fragments.count { json += fragments[Int(byte) - 1] } else { json.append(byte) }
            guard json.count <= largest else { return nil }
        }
        return json
    }
}
