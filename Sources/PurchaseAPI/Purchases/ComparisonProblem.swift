/// A line of a bulk comparison that could not be read.
public struct ComparisonProblem: Codable, Sendable, Equatable {
    public var line: Int
    public var problem: Problem

    /// The error.
    public struct Problem: Codable, Sendable, Equatable {
        public var code: String
        public var text: String
        public var expected: String?
        public var found: String?

        /// An error.
        public init(code: String, text: String, expected: String? = nil, found: String? = nil) {
            (self.code, self.text, self.expected, self.found) = (code, text, expected, found)
        }
    }

    /// A line with an error.
    public init(line: Int, _ problem: Problem) { (self.line, self.problem) = (line, problem) }
}
