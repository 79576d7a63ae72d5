/// The statement of a log at a size (C2SP `tlog-checkpoint`): three lines without a time, so that it is identical when
/// it is published again after a crash.
public struct Checkpoint: Sendable, Equatable {
    /// The name of the log.
    public var origin: String
    /// The number of leaves.
    public var size: Int64
    /// The root of the tree at that size.
    public var root: MerkleHash

    /// Creates a checkpoint.
    public init(origin: String, size: Int64, root: MerkleHash) {
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// The text that is signed.
    package var text: [UInt8] { Array("\(origin)\n\(size)\n\(Base64Form.canonical(root.bytes))\n".utf8) }

    /// Reads the text. Extension lines, which C2SP advises against, are refused, because nothing would check them.
    ///
    /// - Throws: `malformed`.
    package init(text: [UInt8]) throws(LogError) {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[3].isEmpty, (1...LogVerifierKey.longestName).contains(lines[0].count),
            let origin = String(validating: lines[0], as: UTF8.self), let size = Self.number(lines[1]),
            let root = Base64Form.canonicalBytes(lines[2]).flatMap({ MerkleHash($0) })
        else {
            throw LogError(.malformed, "a checkpoint has three lines: origin, size, and 32 bytes of root in base64")
        }
        self.init(origin: origin, size: size, root: root)
        guard self.text == text else { throw LogError(.malformed, "the size of a checkpoint has a leading zero") }
    }

    /// A decimal number without a sign that fits 63 bits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
