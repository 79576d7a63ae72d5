/// A check that a caller makes on genuine evidence. Policies are composed in a list and checked in its order.
///
/// Evidence that lacks a fact which a policy needs fails it: a check that could not run is a failure. (A receipt
/// without an expiry date does not expire; that is the meaning of the absence.)
public protocol PurchasePolicy: Sendable {
    /// The subject of the check in two or three words, for people.
    var name: String { get }

    /// Checks the evidence. The method also accepts unverified content, so that `inspect` can show each check; only
    /// `PurchaseVerifier` creates verified values.
    ///
    /// - Throws: the reason against it, with the two facts that disagreed.
    func check(_ facts: some EvidenceFacts) throws(VerificationError)
}
