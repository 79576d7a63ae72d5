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
