public import PurchaseAPI

/// The conclusion from the status of a reply.
public enum ReplyJudgement: Sendable, Equatable {
    /// The reply is final.
    case conclusive
    /// The receipt belongs to the other environment, which is asked next.
    case otherEnvironment
    /// Apple cannot answer now.
    case undetermined(Persistence)

    /// How long an undetermined status is likely to last.
    public enum Persistence: Sendable, Equatable {
        /// It may pass after a moment, and concerns the store. The question is repeated by the whole schedule.
        case passing
        /// The question is repeated once, because 21002 is also the answer to a malformed receipt.
        case perhapsTheReceipt
        /// The question is not repeated now: Apple says that a retry does not help, or the status is unknown.
        case lasting
    }

    /// Judges a reply (Apple, "status").
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - retryFlag: the flag; it has a meaning only with 21100 to 21199. Absent, a retry may help.
    ///   - environment: the environment that was asked.
    ///   - isSwitched: whether the other environment's reply led to this one.
    public init(
        status: VerifyReceiptStatus, retryFlag: Bool?, asked environment: ValidationEnvironment, isSwitched: Bool
    ) {
        switch status {
        case .valid, .notAuthenticated, .secretMismatch, .expired, .accountNotFound: self = .conclusive
        case .sandboxReceiptAtProduction, .productionReceiptAtSandbox:
            let named: ValidationEnvironment = status == .sandboxReceiptAtProduction ? .sandbox : .production
            // An environment that refers the receipt to itself contradicts itself.
            self = isSwitched ? .conclusive : named == environment ? .undetermined(.lasting) : .otherEnvironment
        case .temporarilyUnavailable, .internalError: self = .undetermined(.passing)
        case .malformed: self = .undetermined(.perhapsTheReceipt)
        case _ where status.isDataAccessError: self = .undetermined(retryFlag == false ? .lasting : .passing)
        default: self = .undetermined(.lasting)
        }
    }
}
