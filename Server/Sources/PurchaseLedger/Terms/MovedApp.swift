public import struct Foundation.UUID

/// An app that moves into a ledger of its own.
public struct MovedApp: Sendable, Equatable {
    /// The entry that says so last.
    let entry: Int64
    /// The id of the entry that ended it here.
    public let id: UUID
    /// The origin of the log of its new ledger.
    public let origin: String
    /// Where to ask for it now.
    public let place: String
    /// The id of the copy that is its ledger now; `nil` until the move is finished.
    var copy: String?

    public var isFinished: Bool { copy != nil }
}
