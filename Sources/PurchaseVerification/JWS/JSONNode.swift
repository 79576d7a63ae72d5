/// A value of a JSON document: its kind, and the positions of it and its name. It owns no bytes.
struct JSONNode: Sendable {
    /// The kind of the value, by its first bytes.
    enum Kind: UInt8, Sendable {
        case null
        case `true`
        case `false`
        /// A number without fraction and exponent.
        case integer
        /// Any other number.
        case number
        /// A string without escapes.
        case string
        case escapedString
        case array
        case object
    }

    private let nameStart: UInt32
    private let textStart: UInt32
    private let textEnd: UInt32
    /// The index of the next value after this one and everything in it.
    var next: UInt32
    private let nameCount: UInt8
    let kind: Kind

    /// - Parameters:
    ///   - name: the positions of the characters of its name; empty if it has none.
    ///   - text: the position of the value, including the quotes of a string; only the opening bracket of an array or
    ///     object.
    ///   - next: the index of the next value.
    init(_ kind: Kind, name: Range<Int>, text: Range<Int>, next: Int) {
        self.kind = kind
        // The scanner keeps documents below 4 GB, and names below 65 bytes.
        nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
        nameCount = UInt8(truncatingIfNeeded: name.count)
        textStart = UInt32(truncatingIfNeeded: text.lowerBound)
        textEnd = UInt32(truncatingIfNeeded: text.upperBound)
        self.next = UInt32(truncatingIfNeeded: next)
    }

    var name: Range<Int> { Int(nameStart)..<(Int(nameStart) &+ Int(nameCount)) }

    /// The value as written, including the quotes of a string.
    var text: Range<Int> { Int(textStart)..<Int(max(textStart, textEnd)) }

    /// The characters between the quotes; empty for other values.
    var characters: Range<Int> {
        switch kind {
        // A string has two quotes at least.
        case .string, .escapedString: Int(textStart) &+ 1..<max(Int(textStart) &+ 1, Int(textEnd) &- 1)
        default: Int(textStart)..<Int(textStart)
        }
    }
}
