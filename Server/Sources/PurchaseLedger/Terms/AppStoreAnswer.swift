public import PurchaseVerification

/// The App Store's answer about the receipt of a claim, compared with what the receipt proves.
///
/// It is a hint from a known source, since no signature covers a reply: it can refuse a claim, withdraw a purchase and
/// contradict a receipt, and never grants.
public struct AppStoreAnswer: Sendable, Equatable {
    /// Why the claim is refused; `nil` if the App Store agrees with the receipt.
    public var refusal: Rejection?
    /// Whether the reply and the receipt contradict each other.
    public var isContradiction: Bool
    /// The environment that was asked last; `nil` if there was no reply.
    public var environment: String?
    /// The status of the reply.
    public var status: Int64?
    /// The reply as it was received.
    public var reply: [UInt8]?
    /// The cancellations that the reply states.
    public var cancellations: [Cancellation] = []
    /// The account tokens that the reply states, by their transactions.
    public var tokens: [TransactionKey: AppAccountToken] = [:]
    /// The signed receipt in the reply, if it differs from the one that was sent.
    public var latestReceipt: [UInt8]?

    /// A cancellation that a reply states.
    public struct Cancellation: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        /// Milliseconds since 1970.
        var at: Int64
        /// Whether it is the end of the period by an upgrade; `nil` if the reply does not say so.
        var isUpgrade: Bool?

        public init(_ key: TransactionKey, at date: Timestamp, isUpgrade: Bool = false) {
            self.isUpgrade = isUpgrade ? true : nil
            environment = key.environment.name
            transactionID = key.transactionID.string
            at = date.millisecondsSince1970
        }

        public var key: TransactionKey {
            TransactionKey(environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID))
        }

        public var date: Timestamp { Timestamp(millisecondsSince1970: at) }
    }

    /// An account token that a reply states.
    struct StatedToken: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        var token: String

        var key: TransactionKey {
            TransactionKey(environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID))
        }
    }

    /// The account tokens, in the order of their transactions.
    var statedTokens: [StatedToken] {
        tokens.sorted { $0.key.transactionID < $1.key.transactionID }.map {
            StatedToken(
                environment: $0.key.environment.name, transactionID: $0.key.transactionID.string,
                token: $0.value.description)
        }
    }

    /// Creates an answer.
    public init(refusal: Rejection? = nil, isContradiction: Bool = false) {
        self.refusal = refusal
        self.isContradiction = isContradiction
    }

    /// The answer if the App Store gave none while the claim waited.
    public static let none = AppStoreAnswer(refusal: Rejection(.appStoreUnanswered))

    /// `accepted`, or the code of the refusal.
    var code: String { refusal?.code ?? DecisionCode.accepted.rawValue }
}
