/// `GET /v1/events`: a page of events, oldest first.
public struct EventPage: Codable, Sendable, Equatable {
    public var events: [EventMessage]
    /// The parameter `cursor` of the next request; present on every page, so that a reader waits for new events with it.
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

extension EventPage {
    /// The JSON of a page whose events are JSON already, as the ledger stores them.
    ///
    /// - Parameters:
    ///   - events: JSON objects, each an `EventMessage`.
    ///   - nextCursor: ASCII without quotation marks and backslashes.
    public static func json(events: [[UInt8]], nextCursor: String) -> [UInt8] {
        var json = Array("{\"\(CodingKeys.events.rawValue)\":[".utf8)
        for (index, event) in events.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json += event
        }
        json += "],\"\(CodingKeys.nextCursor.rawValue)\":\"\(nextCursor)\"}".utf8
        return json
    }
}
