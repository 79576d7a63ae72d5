import Foundation

/// JSON as it was written (RFC 8259): each value with its place in the bytes, so that the order of the members, the
/// digits of numbers and white space are preserved.
///
/// The values are in one array instead of a tree of objects, so hostile JSON takes at most 16 bytes for each value in
/// addition to its own size.
public struct WrittenJSON: Sendable, Equatable {
    public let bytes: [UInt8]
    /// The values in the order in which they begin; the members of an object are a name and a value each.
    public let nodes: [Node]

    /// A value, or the name of a member.
    public struct Node: Sendable, Equatable {
        public let kind: Kind
        /// The offset of its first byte.
        let start: Int32
        /// The offset behind its last byte.
        var end: Int32
        /// The place behind all values in it.
        var next: Int32

        /// The bytes of the value.
        public var range: Range<Int> { Int(start)..<Int(end) }
    }

    /// The kinds of values.
    public enum Kind: UInt8, Sendable {
        case object, array, string, number, word
    }

    /// The bounds of JSON from outside, each with its reason.
    public struct Bounds: Sendable {
        /// The offsets have 32 bits.
        public var bytes: Int
        /// Each value takes 16 bytes.
        public var values: Int
        /// The reader and the writer recurse once for each level.
        public var depth: Int

        public init(bytes: Int = 1 << 30, values: Int = 1 << 26, depth: Int = 64) {
            (self.bytes, self.values, self.depth) = (bytes, values, depth)
        }
    }

    /// The reason why the bytes cannot be read.
    public enum Flaw: Error, Equatable {
        /// They are not JSON, from this offset on.
        case malformed(offset: Int)
        /// They exceed a bound.
        case tooMuch(String)
        /// An object has two members of the same name. Readers disagree on which one counts.
        case duplicateName(offset: Int)
    }

    /// Reads one value with the white space around it.
    public static func read(_ bytes: [UInt8], bounds: Bounds = Bounds()) -> Result<WrittenJSON, Flaw> {
        guard bytes.count <= bounds.bytes else { return .failure(.tooMuch("\(bytes.count) bytes")) }
        // Strings are not checked one by one. Invalid UTF-8 is repaired, so the text then differs.
        guard
            !bytes.contains(where: { $0 >= 0x80 }) || String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
        else { return .failure(.malformed(offset: 0)) }
        var reader = WrittenJSONReader(bytes, bounds)
        do {
            return .success(WrittenJSON(bytes: bytes, nodes: try reader.read()))
        } catch {
            return .failure(error)
        }
    }
}

extension WrittenJSON {
    /// The members of an object: the places of each name and value.
    public func members(of node: Int) -> [(name: Int, value: Int)] {
        var members: [(name: Int, value: Int)] = []
        forEachMember(of: node) { members.append(($0, $1)) }
        return members
    }

    /// Calls the closure with the places of each name and value of an object.
    public func forEachMember(of node: Int, _ body: (_ name: Int, _ value: Int) -> Void) {
        guard nodes[node].kind == .object else { return }
        var name = node + 1
        while name < Int(nodes[node].next) {
            body(name, name + 1)
            name = Int(nodes[name + 1].next)
        }
    }

    /// The places of the elements of an array.
    public func elements(of node: Int) -> [Int] {
        guard nodes[node].kind == .array else { return [] }
        var elements: [Int] = []
        var element = node + 1
        while element < Int(nodes[node].next) {
            elements.append(element)
            element = Int(nodes[element].next)
        }
        return elements
    }

    /// The value of a member; `nil` if there is none.
    public func value(_ name: StaticString, of node: Int) -> Int? {
        var found: Int?
        forEachMember(of: node) { key, value in
            if found == nil, isName(key, name) { found = value }
        }
        return found
    }

    /// Whether a member has this name.
    private func isName(_ node: Int, _ name: StaticString) -> Bool {
        let range = nodes[node].range.dropFirst().dropLast()
        if bytes[range].contains(UInt8(ascii: "\\")) {
            return name.withUTF8Buffer { text(of: node).elementsEqual($0) }
        }
        return name.withUTF8Buffer { bytes[range].elementsEqual($0) }
    }

    /// The text of a string without its escapes, or the bytes of another value as they are.
    public func text(of node: Int) -> [UInt8] {
        let range = nodes[node].range
        guard nodes[node].kind == .string else { return Array(bytes[range]) }
        let inner = range.dropFirst().dropLast()
        guard bytes[inner].contains(UInt8(ascii: "\\")) else { return Array(bytes[inner]) }
        return Self.unescaped(bytes[inner])
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            guard text[position] == UInt8(ascii: "\\"), position + 1 < text.endIndex else {
                result.append(text[position])
                position += 1
                continue
            }
            let letter = text[position + 1]
            position += 2
            switch letter {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = unit(text, position)
                position += 4
                // A surrogate pair (RFC 8259, 7); a lone surrogate is no scalar.
                if (0xD800...0xDBFF).contains(scalar), position + 6 <= text.endIndex,
                    text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u")
                {
                    let low = unit(text, position + 2)
                    if (0xDC00...0xDFFF).contains(low) {
                        scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
                        position += 6
                    }
                }
                result.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
            default: result.append(letter)
            }
        }
        return result
    }

    /// Four hexadecimal digits.
    private static func unit(_ text: ArraySlice<UInt8>, _ position: Int) -> UInt32 {
        text[position..<min(position + 4, text.endIndex)].reduce(0) {
            $0 << 4 | UInt32(WrittenJSONReader.hexadecimal($1) ?? 0)
        }
    }
}
