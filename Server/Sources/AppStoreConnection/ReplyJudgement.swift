public import PurchaseAPI

/// What follows from the status of a reply.
public enum ReplyJudgement: Sendable, Equatable {
    /// Apple's last word.
    case conclusive
    /// The receipt is of the other environment, which is asked next.
    case otherEnvironment
    /// Apple cannot answer now.
    case undetermined(Persistence)

    /// How long an undetermined status lasts, as far as it tells.
    public enum Persistence: Sendable, Equatable {
        /// It may be gone after a moment, and says something about the store. It is asked again by the whole schedule.
        case passing
        /// It is asked again once: 21002 is also the answer to a malformed receipt.
        case perhapsTheReceipt
        /// It is not asked again now: Apple says that it does not help, or the status is unknown.
        case lasting
    }

    /// Judges a reply (Apple, "status").
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - retryFlag: the flag; it has a meaning only with 21100 to 21199. Absent, a retry may help.
    ///   - environment: the environment that was asked.
    ///   - isSwitched: whether the other environment sent us here.
    public init(
        status: VerifyReceiptStatus, retryFlag: Bool?, asked environment: ValidationEnvironment, isSwitched: Bool
    ) {
        switch status {
        case .valid, .notAuthenticated, .secretMismatch, .expired, .accountNotFound: self = .conclusive
        case .sandboxReceiptAtProduction, .productionReceiptAtSandbox:
            let named: ValidationEnvironment = status == .sandboxReceiptAtProduction ? .sandbox : .production
            // An address that names itself contradicts itself.
            self = isSwitched ? .conclusive : named == environment ? .undetermined(.lasting) : .otherEnvironment
        case .temporarilyUnavailable, .internalError: self = .undetermined(.passing)
        case .malformed: self = .undetermined(.perhapsTheReceipt)
        case _ where status.isDataAccessError: self = .undetermined(retryFlag == false ? .lasting : .passing)
        default: self = .undetermined(.lasting)
        }
    }
}
