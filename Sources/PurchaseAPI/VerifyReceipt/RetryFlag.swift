extension VerifyReceiptResponse {
    /// Whether trying again may help, and how that is spelled. Apple's servers write `is_retryable`, its documents wrote
    /// `is-retryable` for years, and clients read the one or the other.
    public struct RetryFlag: Sendable, Equatable {
        public var isRetryable: Bool
        public var spelling: Spelling

        public init(_ isRetryable: Bool, spelling: Spelling = .underscore) {
            self.isRetryable = isRetryable
            self.spelling = spelling
        }

        /// The spellings.
        public enum Spelling: String, Codable, Sendable, CaseIterable {
            case underscore, hyphen, both
        }

        func write(to json: inout JSONWriter) {
            if spelling != .hyphen {
                json.key("is_retryable")
                json.boolean(isRetryable)
            }
            if spelling != .underscore {
                json.key("is-retryable")
                json.boolean(isRetryable)
            }
        }
    }
}
