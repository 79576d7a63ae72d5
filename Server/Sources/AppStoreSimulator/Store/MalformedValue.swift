/// The reason why a value cannot be read, in words for the client. Foundation's own descriptions name Swift types.
struct MalformedValue: Error {
    let words: String

    /// The error that a decoder throws for it.
    static func error(_ words: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: words, underlyingError: MalformedValue(words: words)))
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// Reads one of several words. Its error names all of them.
    static func word(from decoder: any Decoder, spelled: (String) -> String = { $0 }) throws -> Self {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let word = Self(rawValue: spelled(text)) else {
            let words = allCases.map(\.rawValue).joined(separator: ", ")
            throw MalformedValue.error(
                "'\(String(String.UnicodeScalarView(text.unicodeScalars.prefix(80))))' is not one of \(words).",
                at: container.codingPath)
        }
        return word
    }
}
