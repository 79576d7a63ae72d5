import struct Foundation.UUID

/// The id of a seat. The App Store's `seatClaimId` is a UUID: Swift writes it in capitals, and Apple's servers in small
/// letters, so both name the same seat.
enum SeatID {
    /// The form in which new entries state an id: a UUID in small letters, any other text unchanged.
    static func normalized(_ id: String) -> String { UUID(uuidString: id) == nil ? id : id.lowercased() }

    /// The forms in which rows can have an id, the given one first. Rows of earlier versions have it as it was sent.
    static func forms(_ id: String) -> [String] {
        guard UUID(uuidString: id) != nil else { return [id] }
        return [id, id.lowercased(), id.uppercased()]
    }
}
