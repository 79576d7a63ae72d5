/// Checks JSON byte by byte for structures that cost Foundation too much time or memory, and for repeated members, of which
/// decoders use the first or the last. (The core has its own check; the simulator never imports it.)
enum JSONBounds {
    /// The limit that the text exceeds, in words; nil if it exceeds none. Foundation checks whether the text is JSON.
    static func excess(of json: [UInt8]) -> String? {
        var depth = 0
        var values = 0
        var position = 0
        // The names so far in each array and object around the position. They are bounded before they are hashed.
        var names: [Set<ArraySlice<UInt8>>] = []
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\""):
                let text = Text(json, from: position + 1)
                position = text.end
                if !text.isPlain, text.count > SimulatorLimits.unicodeTextBytes {
                    return "A text that is not ASCII has at most \(SimulatorLimits.unicodeTextBytes) bytes."
                }
                if isName(json, endingAt: text.end) {
                    // No format that the simulator reads needs an escape in a name; an escape would allow a second
                    // spelling.
                    guard text.isPlain, !text.hasEscape, text.count <= SimulatorLimits.memberNameBytes else {
                        return "The name of a member is ASCII, with at most \(SimulatorLimits.memberNameBytes) bytes."
                    }
                    let name = json[(text.end - text.count)..<text.end]
                    guard !names.isEmpty, names[names.count - 1].insert(name).inserted else {
                        return "Write each member of an object once."
                    }
                }
            case 0:
                // Foundation also reads UTF-16 and UTF-32, in which this check would not see quotes and brackets.
                return "JSON is UTF-8 (RFC 8259, 8.1)."
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                values += 1
                names.append([])
                if depth > SimulatorLimits.jsonDepth {
                    return "JSON has at most \(SimulatorLimits.jsonDepth) levels here."
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                _ = names.popLast()
            case UInt8(ascii: ","):
                values += 1
            default: break
            }
            if values > SimulatorLimits.jsonValues {
                return "JSON has at most \(SimulatorLimits.jsonValues) values here."
            }
            position += 1
        }
        return nil
    }

    /// Whether a colon follows the quote at the offset.
    private static func isName(_ json: [UInt8], endingAt end: Int) -> Bool {
        var position = end + 1
        while position < json.count, [0x20, 0x09, 0x0A, 0x0D].contains(json[position]) { position += 1 }
        return position < json.count && json[position] == UInt8(ascii: ":")
    }

    /// A string, starting after its opening quote.
    private struct Text {
        /// The offset of the closing quote, or the end of the JSON.
        let end: Int
        let count: Int
        /// Whether it is ASCII, also after its escapes are decoded.
        let isPlain: Bool
        /// Whether it has an escape, such as `\/`.
        let hasEscape: Bool

        init(_ json: [UInt8], from start: Int) {
            var position = start
            var (isPlain, hasEscape) = (true, false)
            while position < json.count, json[position] != UInt8(ascii: "\"") {
                if json[position] >= 0x80 || json[position] == 0 { isPlain = false }
                if json[position] == UInt8(ascii: "\\") {
                    position += 1
                    hasEscape = true
                    if position < json.count, json[position] == UInt8(ascii: "u") { isPlain = false }
                }
                position += 1
            }
            end = min(position, json.count)
            count = end - start
            self.isPlain = isPlain
            self.hasEscape = hasEscape
        }
    }
}
