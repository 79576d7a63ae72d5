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
