/// A text with signatures (C2SP `signed-note`).
package struct SignedNote {
    /// The largest note that is read, in bytes. A checkpoint has about 200; witnesses may add signatures of 5 kB.
    static let largest = 1 << 17
    /// The maximum number of signatures that are read. C2SP asks for at least 16.
    static let signatures = 64

    /// The signed text, with its last newline.
    package let text: [UInt8]
    let signatures: [Signature]

    struct Signature {
        let name: [UInt8]
        let keyID: [UInt8]
        let signature: [UInt8]
    }

    /// Reads a note without verifying it.
    ///
    /// - Throws: `malformed`.
    package init(_ bytes: [UInt8]) throws(LogError) {
        guard bytes.count <= Self.largest else {
            throw LogError(.malformed, "a signed note has at most \(Self.largest) bytes, found \(bytes.count)")
        }
        guard bytes.last == 0x0A, bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x0A }),
            String(validating: bytes, as: UTF8.self) != nil
        else { throw LogError(.malformed, "a signed note consists of lines of UTF-8 without control characters") }
        // The last empty line separates text and signatures.
        guard let end = bytes.indices.dropFirst().last(where: { bytes[$0] == 0x0A && bytes[$0 - 1] == 0x0A }) else {
            throw LogError(.malformed, "a signed note has an empty line before its signatures")
        }
        text = Array(bytes[..<end])
        let lines = bytes[(end + 1)...].dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
        guard (1...Self.signatures).contains(lines.count), end + 1 < bytes.count else {
            throw LogError(.malformed, "a signed note has 1 to \(Self.signatures) signatures")
        }
        var signatures: [Signature] = []
        for line in lines {
            guard let signature = Signature(line: line) else {
                throw LogError(.malformed, "a signature is a line with an em dash, a key's name and base64")
            }
            signatures.append(signature)
        }
        self.signatures = signatures
    }

    /// Verifies the signatures of known keys, and ignores all others.
    ///
    /// - Throws: `signatureInvalid` if a signature of a known key does not verify, `keyUnknown` if there is none.
    package func verify(_ keys: [LogVerifierKey]) throws(LogError) {
        var isSigned = false
        for signature in signatures {
            for key in keys where key.name.utf8.elementsEqual(signature.name) && key.id == signature.keyID {
                guard key.verifies(signature.signature, of: text) else {
                    throw LogError(.signatureInvalid, "the signature of \(key.name) does not verify")
                }
                isSigned = true
            }
        }
        guard isSigned else {
            let known = keys.map { "\($0.name)+\($0.id.hexadecimal)" }.joined(separator: ", ")
            throw LogError(.keyUnknown, "no signature is by a known key (\(known.isEmpty ? "none" : known))")
        }
    }

    package static func bytes(_ text: [UInt8], name: String, keyID: [UInt8], signature: [UInt8]) -> [UInt8] {
        text + Array("\n— \(name) \(Base64Form.canonical(keyID + signature))\n".utf8)
    }
}

extension SignedNote.Signature {
    private static let prefix = Array("— ".utf8)

    /// Reads a line; `nil` if its format is wrong.
    init?(line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.prefix) else { return nil }
        let rest = line.dropFirst(Self.prefix.count)
        guard let space = rest.firstIndex(of: 0x20), LogVerifierKey.isName(rest[..<space]),
            let content = Base64Form.canonicalBytes(rest[(space + 1)...]), content.count > 4
        else { return nil }
        name = Array(rest[..<space])
        keyID = Array(content.prefix(4))
        signature = Array(content.dropFirst(4))
    }
}
