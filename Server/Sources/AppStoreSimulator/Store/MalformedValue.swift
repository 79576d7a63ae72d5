/// Why a value cannot be read, in words for the client. Foundation's own words name types of Swift.
struct MalformedValue: Error {
    let words: String

    /// The error that a decoder throws for it.
    static func error(_ words: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: words, underlyingError: MalformedValue(words: words)))
    }
}
