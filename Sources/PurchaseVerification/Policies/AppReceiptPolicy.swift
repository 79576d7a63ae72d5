/// One demand that a caller makes of a genuine receipt. Policies are composed in a list and checked in its order.
///
/// A receipt that lacks the attribute that a policy needs fails it: a check that could not run is a failure. (A receipt without
/// an expiration date does not expire; that is what the absence means.)
public protocol AppReceiptPolicy: Sendable {
    /// What is checked, in two or three words, for people.
    var name: String { get }

    /// Checks the receipt. The method takes unverified content, too, so that `inspect` can show each check; only
    /// `PurchaseVerifier` turns passing into a verified value.
    ///
    /// - Throws: the reason against it, with the two facts that disagreed.
    func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError)
}
