extension VerifyReceiptResponse {
    /// Whether a retry may help, and the spelling of the flag. Apple's servers write `is_retryable`, its documents
    /// wrote `is-retryable` for years, and clients read one or the other.
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
