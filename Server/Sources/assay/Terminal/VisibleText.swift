import Foundation

/// Text from outside, escaped so that it cannot control the terminal, forge a line, or hide its content.
///
/// Evidence, names of files and the answers of other servers may hold any Unicode scalar. Scalars without a visible
/// form are written as their number: `\u{202E}` for people, `\u202e` in JSON.
enum VisibleText {
    /// Whether a scalar is invisible, moves other text, or ends a line:
    ///
    /// - controls (C0, U+007F, C1), which drive terminals;
    /// - line and paragraph separators (U+2028, U+2029);
    /// - format characters: bidirectional controls (U+061C, U+200E, U+202A, U+2066 …), zero-width ones, U+FEFF, tags;
    /// - other scalars that Unicode calls ignorable, such as fillers and variation selectors (UAX #44,
    ///   Default_Ignorable_Code_Point).
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// The text for people, in one line or, if it is our own message around text from outside, with its line feeds.
    static func forPeople(_ text: String, keepsLines: Bool = false) -> String {
        guard mayHide(text.utf8, keepsLines: keepsLines) else { return text }
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar), !(keepsLines && scalar == "\n") {
                visible.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                visible.append(scalar)
            }
        }
        return String(visible)
    }

    /// One line of JSON, with its hidden scalars escaped (RFC 8259, 7). Outside of strings JSON is ASCII without
    /// controls, so they can only be inside of strings, where an escape has the same meaning.
    static func inJSON(_ json: [UInt8]) -> [UInt8] {
        // The usual case has a fast path.
        guard mayHide(json, keepsLines: false) else { return json }
        var visible: [UInt8] = []
        visible.reserveCapacity(json.count + 64)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            guard isHidden(scalar) else {
                visible.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                continue
            }
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16)
                visible.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        return visible
    }

    /// Whether any byte could belong to a hidden scalar.
    private static func mayHide(_ utf8: some Sequence<UInt8>, keepsLines: Bool) -> Bool {
        utf8.contains { $0 >= 0x7F || $0 < 0x20 && !(keepsLines && $0 == 0x0A) }
    }
}

extension String {
    /// The text in one line, with nothing hidden in it: evidence must not be able to control the terminal.
    var printable: String { VisibleText.forPeople(self) }
}
