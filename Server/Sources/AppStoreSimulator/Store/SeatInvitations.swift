/// Who invites the members of a subscription with seats, in Apple's words (`invitationManagement`).
public enum SeatInvitations: String, Codable, Hashable, Sendable, CaseIterable {
    /// Apple does. Each member has a transaction.
    case apple = "APPLE"
    /// The app's backend does, and is the record of the members. They have no transactions.
    case developer = "DEVELOPER"

    /// Reads one of the words above, in capital or small letters.
    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) { $0.uppercased() } }
}
