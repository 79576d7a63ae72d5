extension SettingsFile {
    /// Reads the bytes of a file, in UTF-8.
    ///
    /// - Throws: `Problems`, all of them at once.
    package init(_ bytes: [UInt8], beside surroundings: Surroundings) throws {
        try self.init(try Self.text(of: bytes), beside: surroundings)
    }

    /// The text of a file in UTF-8, without a byte order mark.
    ///
    /// - Throws: `Problems` with the first line that is not UTF-8.
    private static func text(of bytes: [UInt8]) throws -> String {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // No character of several bytes contains a line feed.
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw Problems(problems: [
            Problem(
                line: wrong.map { $0 + 1 }, fault: "the text is not UTF-8",
                remedy: "Save the file as UTF-8, or remove the bytes that are not")
        ])
    }
}
