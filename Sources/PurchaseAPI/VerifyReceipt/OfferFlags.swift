/// The two flags of `verifyReceipt` about the offer of a period, derived from the offer that the App Store names
/// elsewhere.
public struct OfferFlags: Sendable, Equatable {
    /// `is_trial_period`: the period is free, under an offer of any kind.
    public let isTrialPeriod: Bool
    /// `is_in_intro_offer_period`: the period has an introductory offer that is paid; since late 2024, also a free
    /// trial.
    public let isInIntroOfferPeriod: Bool

    /// - Parameters:
    ///   - isIntroductory: whether the offer is the introductory one.
    ///   - isFree: whether it costs nothing (`FREE_TRIAL`).
    ///   - purchaseDate: when the period was bought, in milliseconds since 1970.
    public init(isIntroductory: Bool, isFree: Bool, purchaseDate: Int64) {
        isTrialPeriod = isFree
        isInIntroOfferPeriod = isFree ? purchaseDate >= Self.trialsAreIntroductorySince : isIntroductory
    }

    /// 2024-07-01. The last recorded free trial without the flag is of March 2024, the first one with it of
    /// November 2024.
    static let trialsAreIntroductorySince: Int64 = 1_719_792_000_000
}
