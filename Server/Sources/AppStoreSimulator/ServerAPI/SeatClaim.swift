/// A seat that the app's backend gave to a member.
struct SeatClaim: Codable, Equatable, Sendable {
    /// A UUID in small letters.
    let seatClaimID: String
    /// The same identifier again claims no further seat.
    let requestIdentifier: String
    /// The member, if the backend has named one: with the claim, or later.
    var appTransactionID: String?
}
