import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger

/// `GET /v1/events`: everything that changed, in order.
struct EventRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("events") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let after = try request.place()
            let events = try await api.ledger.answer(EventList(app: app, after: after, limit: try request.limit()))
            let json = EventPage.json(
                events: events.map(\.body), nextCursor: "\(events.last?.cursor ?? after)")
            return Response(
                status: .ok, headers: [.contentType: Wire.contentType],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        }
    }
}

extension Request {
    /// The event after which the page begins; 0 begins with the first.
    fileprivate func place() throws -> Int64 {
        guard let value = try value("after") else { return 0 }
        let isNumber = (1...19).contains(value.utf8.count) && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let place = Int64(value) else {
            throw Problem.parameter("after", "the next_cursor of an answer, or 0")
        }
        return place
    }
}
