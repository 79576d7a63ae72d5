/// Split evidence: the list of its pieces, and their bytes by the way they are stored.
package struct SplitEvidence: Equatable {
    /// The number of base64 levels that are unpacked: a transaction inside a notification has two, a transaction
    /// receipt three.
    static let depth = 4
    /// Distinct shared parts of one piece of evidence. A notification has one or two.
    static let maximumParts = 16
    /// The maximum size of a shape: each piece covers at least a third of the bytes that describe it.
    static func maximumShape(size: Int) -> Int { 3 * size + 64 }

    /// The list of pieces. Each is a byte with its kind, followed by its length or number.
    package var shape: [UInt8] = []
    package var literals: [UInt8] = []
    package var opaque: [UInt8] = []
    /// The shared bytes, each once.
    package var parts: [[UInt8]] = []

    package init() {}

    init(_ pieces: [EvidencePiece]) {
        for piece in pieces { append(piece) }
    }

    private mutating func append(_ piece: EvidencePiece) {
        switch piece {
        case .literal(let bytes):
            shape.append(Mark.literal.rawValue)
            shape.append(number: bytes.count)
            literals += bytes
        case .opaque(let bytes):
            shape.append(Mark.opaque.rawValue)
            shape.append(number: bytes.count)
            opaque += bytes
        case .shared(let bytes):
            shape.append(Mark.shared.rawValue)
            if let known = parts.firstIndex(where: { $0.elementsEqual(bytes) }) {
                shape.append(number: known)
            } else {
                shape.append(number: parts.count)
                parts.append(Array(bytes))
            }
        case .base64(let text, let pieces):
            shape.append(Mark.base64.rawValue)
            shape.append(text.flags)
            if text.lineLength > 0 { shape.append(number: text.lineLength) }
            for piece in pieces { append(piece) }
            shape.append(Mark.end.rawValue)
        }
    }

    /// Restores the evidence.
    ///
    /// - Parameter limit: the maximum size of the evidence in bytes.
    /// - Returns: `nil` if the shape does not use exactly the stored bytes, or exceeds the limit.
    package func joined(limit: Int) -> [UInt8]? {
        var joiner = Joiner(split: self, shape: shape[...], literals: literals[...], opaque: opaque[...], limit: limit)
        guard let bytes = joiner.row(depth: Self.depth), joiner.shape.isEmpty, joiner.literals.isEmpty,
            joiner.opaque.isEmpty, bytes.count <= limit
        else { return nil }
        return bytes
    }

    fileprivate enum Mark: UInt8 {
        case end = 0
        case literal = 1
        case opaque = 2
        case shared = 3
        case base64 = 4
    }
}

/// Reads a shape. It produces at most `limit` bytes, and every step uses up bytes of the shape.
private struct Joiner {
    let split: SplitEvidence
    var shape: ArraySlice<UInt8>
    var literals: ArraySlice<UInt8>
    var opaque: ArraySlice<UInt8>
    let limit: Int

    /// A list of pieces, to the end of the shape or of the content of base64.
    mutating func row(depth: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let byte = shape.popFirst() {
            guard let mark = SplitEvidence.Mark(rawValue: byte) else { return nil }
            switch mark {
            case .end: return depth < SplitEvidence.depth ? bytes : nil
            case .literal:
                guard let count = shape.popNumber(), count <= literals.count else { return nil }
                bytes += literals.prefix(count)
                literals = literals.dropFirst(count)
            case .opaque:
                guard let count = shape.popNumber(), count <= opaque.count else { return nil }
                bytes += opaque.prefix(count)
                opaque = opaque.dropFirst(count)
            case .shared:
                guard let index = shape.popNumber(), split.parts.indices.contains(index) else { return nil }
                bytes += split.parts[index]
            case .base64:
                guard depth > 0, let flags = shape.popFirst(), var text = Base64Form(flags: flags) else { return nil }
                if text.lineLength > 0 {
                    guard let length = shape.popNumber(), length > 0 else { return nil }
                    text.lineLength = length
                }
                guard let content = row(depth: depth - 1) else { return nil }
                // With a break after each character, the text is four times as long as its bytes.
                guard content.count <= limit else { return nil }
                bytes += text.encoded(content)
            }
            guard bytes.count <= limit else { return nil }
        }
        return depth == SplitEvidence.depth ? bytes : nil
    }
}

extension Base64Form {
    fileprivate var flags: UInt8 {
        (isURLSafe ? 1 : 0) | (isPadded ? 2 : 0) | (lineLength > 0 ? 4 : 0) | (hasCarriageReturns ? 8 : 0)
    }

    /// The text of flags. A line length follows if `lineLength` is not 0.
    fileprivate init?(flags: UInt8) {
        guard flags < 16 else { return nil }
        self.init(
            isURLSafe: flags & 1 != 0, isPadded: flags & 2 != 0, lineLength: flags & 4 != 0 ? 1 : 0,
            hasCarriageReturns: flags & 8 != 0)
    }
}
