/// The last line of a bulk comparison.
public struct ComparisonSummary: Codable, Sendable, Equatable {
    public var summary: Counts

    /// The numbers of lines.
    public struct Counts: Codable, Sendable, Equatable {
        public var compared = 0
        public var agreed = 0
        public var differed = 0
        /// Lines that could not be read.
        public var invalid = 0
        /// The differences by cause.
        public var causes: [String: Int] = [:]

        /// No lines yet.
        public init() {}
    }

    /// A summary.
    public init(_ summary: Counts = Counts()) { self.summary = summary }
}

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
