/// `GET /v1/events`: a page of events, oldest first.
public struct EventPage: Codable, Sendable, Equatable {
    public var events: [EventMessage]
    /// The parameter `cursor` of the next request; present on every page, so that a reader waits for new events with
    /// it.
    public var nextCursor: String

    /// A page.
    public init(events: [EventMessage], nextCursor: String) {
        self.events = events
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case events
        case nextCursor = "next_cursor"
    }
}
