/// A JSON object in the form in which nearly all requests are written: a few members, each once, whose values are texts
/// in ASCII, `true` or `false`, without escapes except for the `\/` that some writers use for each slash in base64.
///
/// Everything else, including malformed JSON, is left to Foundation, which reads all of JSON but takes nearly half as
/// long as the check of a receipt's signature. A test compares the two.
package struct PlainJSONObject {
    package enum Value: Equatable {
        /// ASCII.
        case text([UInt8])
        case flag(Bool)
    }

    /// The most members; no request of ours has more.
    private static let mostMembers = 16

    package private(set) var members: [(name: String, value: Value)] = []
    private var position = 0

    /// - Returns: `nil` for everything else.
    package init?(_ json: [UInt8]) {
        let text = json[...]
        guard read(text.span) else { return nil }
    }

    private mutating func read(_ json: Span<UInt8>) -> Bool {
        guard take(UInt8(ascii: "{"), json) else { return false }
        repeat {
            guard members.count < Self.mostMembers, let key = text(json), take(UInt8(ascii: ":"), json),
                let value = value(json)
            else { return false }
            let name = String(decoding: key, as: UTF8.self)
            guard !members.contains(where: { $0.name == name }) else { return false }
            members.append((name, value))
        } while take(UInt8(ascii: ","), json)
        guard take(UInt8(ascii: "}"), json) else { return false }
        skipWhiteSpace(json)
        return position == json.count
    }

    private mutating func value(_ json: Span<UInt8>) -> Value? {
        if let flag = flag(json) { return .flag(flag) }
        return text(json).map { .text($0) }
    }

    /// Skips white space and the byte, if the byte follows it.
    private mutating func take(_ byte: UInt8, _ json: Span<UInt8>) -> Bool {
        skipWhiteSpace(json)
        guard position < json.count, json[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace(_ json: Span<UInt8>) {
        while position < json.count {
            switch json[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func flag(_ json: Span<UInt8>) -> Bool? {
        skipWhiteSpace(json)
        for (word, value) in [("true", true), ("false", false)] {
            let bytes = word.utf8
            guard position + bytes.count <= json.count,
                bytes.enumerated().allSatisfy({ json[position + $0.offset] == $0.element })
            else { continue }
            position += bytes.count
            return value
        }
        return nil
    }

    /// The text of a string, from its opening quote to its closing quote.
    private mutating func text(_ json: Span<UInt8>) -> [UInt8]? {
        guard take(UInt8(ascii: "\""), json) else { return nil }
        var start = position
        var text: [UInt8] = []
        while true {
            position = Self.plainEnd(json.bytes, from: position)
            guard position < json.count else { return nil }
            text.reserveCapacity(position - start)
            json.extracting(start..<position).withUnsafeBufferPointer { text.append(contentsOf: $0) }
            switch json[position] {
            case UInt8(ascii: "\""):
                position += 1
                return text
            case UInt8(ascii: "\\"):
                guard position + 1 < json.count, json[position + 1] == UInt8(ascii: "/") else { return nil }
                // The slash itself is plain again.
                start = position + 1
                position += 2
            default: return nil
            }
        }
    }

    /// The offset of the first byte that is special in a string, or not ASCII.
    private static func plainEnd(_ json: RawSpan, from start: Int) -> Int {
        var position = start
        while position + 16 <= json.byteCount {
            let block = json.unsafeLoadUnaligned(fromByteOffset: position, as: SIMD16<Int8>.self)
            // Bytes beyond ASCII are negative, so they are also below 0x20. Whole vectors only: the others are not
            // inlined.
            let special =
                mask(block .< SIMD16(repeating: 0x20)) | mask(block .== SIMD16(repeating: 0x22))
                | mask(block .== SIMD16(repeating: 0x5C))
            let words = unsafeBitCast(special, to: SIMD2<UInt64>.self)
            guard words[0] | words[1] == 0 else { break }
            position += 16
        }
        while position < json.byteCount {
            let byte = json.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            guard byte >= 0x20, byte < 0x80, byte != 0x22, byte != 0x5C else { break }
            position += 1
        }
        return position
    }

    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD16<Int8> {
        unsafeBitCast(mask, to: SIMD16<Int8>.self)
    }
}
