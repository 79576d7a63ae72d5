/// One check of an inspection, and how it ended.
public struct InspectionCheck: Codable, Sendable, Equatable {
    /// The subject of the check, in a few words.
    public var name: String
    public var outcome: Outcome
    /// The reason code of a failed check.
    public var code: String?
    /// The sentence for people.
    public var detail: String?
    public var expected: String?
    public var found: String?

    /// The result of one check.
    public struct Outcome: WireEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let passed = Outcome(rawValue: "passed")
        public static let failed = Outcome(rawValue: "failed")
        /// An earlier failure made it impossible; this also counts as failed.
        public static let notRun = Outcome(rawValue: "not_run")
    }

    /// A check by its parts.
    public init(
        name: String, outcome: Outcome, code: String? = nil, detail: String? = nil, expected: String? = nil,
        found: String? = nil
    ) {
        self.name = name
        self.outcome = outcome
        self.code = code
        self.detail = detail
        self.expected = expected
        self.found = found
    }
}
