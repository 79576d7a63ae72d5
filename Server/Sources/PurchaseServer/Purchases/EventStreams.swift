import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import ServiceLifecycle
import Synchronization

/// The open streams of `GET /v1/events/stream`, in the format of server-sent events (WHATWG HTML, "Server-sent
/// events").
///
/// One reader for each app looks for new events and hands them to all of its streams. A stream that begins earlier, or
/// that falls behind what the reader keeps, reads pages of its own until it has caught up.
final class EventStreams: Sendable {
    /// A backend has a stream for each of its processes.
    static let largestOfKey = 10
    /// Less than 40 KB each.
    static let largest = 2_000
    /// The seconds between two signs of life, at which the key is looked up again.
    private static let beat = 10.0
    /// The time between two looks for new events.
    private static let tick = Duration.milliseconds(200)
    /// The events that a reader keeps, about a kilobyte each, and those of a page.
    private static let (kept, page) = (1024, 256)

    private let limit: Int
    private let uptime: @Sendable () -> Double
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var readers: [String: Reader] = [:]
        var ofKeys: [String: Int] = [:]
        var nextID: UInt64 = 0
        /// How often the settings were replaced.
        var generation = 0
    }

    /// What is read for the streams of an app.
    private struct Reader {
        let id: UInt64
        /// Events after `begin`, up to `end`.
        var recent: [StreamedEvent] = []
        var begin: Int64
        var end: Int64
        var beats = 0
        /// Each is woken when something changed, and ended with the reader.
        var streams: [UInt64: AsyncStream<Void>.Continuation] = [:]
    }

    fileprivate struct StreamedEvent {
        let cursor: Int64
        let text: ByteBuffer
        let isErasure: Bool

        init(_ event: StoredEvent) throws {
            let message = EventMessage(event.content)
            (cursor, isErasure) = (event.cursor, message.type == .customerErased)
            var text = ByteBuffer(string: "id: \(message.id)\nevent: \(message.type.rawValue)\ndata: ")
            text.writeBytes(try Wire.json(message))
            text.writeString("\n\n")
            self.text = text
        }
    }

    /// A part of what one key and the server may have open, until it is released.
    private final class Place: Sendable {
        let streams: EventStreams
        let key: String
        let generation: Int

        init(_ streams: EventStreams, _ key: String, _ generation: Int) {
            (self.streams, self.key, self.generation) = (streams, key, generation)
        }

        deinit {
            streams.state.withLock { state in
                let rest = state.ofKeys[key, default: 1] - 1
                state.ofKeys[key] = rest == 0 ? nil : rest
            }
        }
    }

    /// - Parameters:
    ///   - limit: the maximum number of all streams.
    ///   - uptime: seconds since any moment, never going back.
    init(limit: Int, uptime: @escaping @Sendable () -> Double, logger: Logger) {
        (self.limit, self.uptime, self.logger) = (limit, uptime, logger)
    }

    /// The number of open streams.
    var count: Int { state.withLock { $0.ofKeys.values.reduce(0, +) } }

    /// Ends all streams, as when the settings were replaced. Their clients connect again, and resume.
    func end() {
        let ended = state.withLock { state in
            defer { (state.readers, state.generation) = ([:], state.generation + 1) }
            return state.readers.values.flatMap(\.streams.values)
        }
        for stream in ended { stream.finish() }
    }

    /// The answer to a request for a stream.
    ///
    /// - Parameter lastID: the id of the last event that the client has; `nil` for none: it then begins now.
    /// - Throws: 429 beyond the number of streams, and the errors of `EventPosition`.
    func response(_ caller: Caller, lastID: String?, _ ledger: TimedLedger) async throws -> Response {
        let (app, place) = (caller.app.id, try place(caller.key.id))
        let position = try await ledger.answer(EventPosition(app: app, id: lastID))
        return Response(
            status: .ok,
            headers: [
                .contentType: Wire.streamType, .cacheControl: "no-store",
                // Asks proxies such as nginx not to hold it back.
                .accelBuffering: "no",
            ],
            body: ResponseBody { writer in
                try await self.write(to: &writer, caller, place, position, ledger)
            })
    }

    private func place(_ key: String) throws(Problem) -> Place {
        let (problem, generation) = state.withLock { state -> (Problem?, Int) in
            let (ofKey, all) = (state.ofKeys[key, default: 0], state.ofKeys.values.reduce(0, +))
            guard ofKey < Self.largestOfKey, all < limit else {
                let isOfKey = ofKey >= Self.largestOfKey
                let problem = Problem(
                    .tooManyRequests, "rate_limited", "Too many streams of events are open.",
                    expected: isOfKey ? "at most \(Self.largestOfKey) of a key" : "at most \(limit) of all keys",
                    found: "\(isOfKey ? ofKey : all)", retryAfter: 10)
                return (problem, state.generation)
            }
            state.ofKeys[key] = ofKey + 1
            return (nil, state.generation)
        }
        if let problem { throw problem }
        return Place(self, key, generation)
    }

    // MARK: One stream

    private func write(
        to writer: inout any ResponseBodyWriter, _ caller: Caller, _ place: Place, _ begin: EventPosition.Answer,
        _ ledger: TimedLedger
    ) async throws {
        let (app, (news, continuation)) = (
            caller.app.id, AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        )
        let id = join(app, continuation, place.generation, begin.newest, ledger)
        defer { leave(app, id) }
        try await withGracefulShutdownHandler {
            var (position, beats, checked) = (begin.cursor, 0, uptime())
            // An id without data is remembered by the client, and causes no event.
            try await writer.write(ByteBuffer(string: begin.id.map { "id: \($0)\n\n" } ?? ":\n\n"))
            continuation.yield()
            events: for await _ in news {
                while let events = try await next(app, after: &position, ledger) {
                    for event in events {
                        try await writer.write(event.text)
                        // A client that reads slowly, or the whole history, takes long.
                        guard isOpen(app, id) else { break events }
                        guard uptime() - checked >= Self.beat else { continue }
                        checked = uptime()
                        guard try await caller.isValid() else { break events }
                    }
                }
                let now = state.withLock { $0.readers[app]?.beats ?? 0 }
                guard now != beats else { continue }
                (beats, checked) = (now, uptime())
                guard try await caller.isValid() else { break }
                try await writer.write(ByteBuffer(string: ":\n\n"))
            }
        } onGracefulShutdown: {
            self.leave(app, id)
            continuation.finish()
        }
        try await writer.finish(nil)
        withExtendedLifetime(place) {}
    }

    private func isOpen(_ app: String, _ id: UInt64) -> Bool {
        state.withLock { $0.readers[app]?.streams[id] != nil }
    }

    /// The next events after a position, which is moved to their end; `nil` if there are none now.
    private func next(
        _ app: String, after position: inout Int64, _ ledger: TimedLedger
    ) async throws -> [StreamedEvent]? {
        let before = position
        let kept = state.withLock { state -> (events: [StreamedEvent], end: Int64)? in
            guard let reader = state.readers[app], reader.begin <= before else { return nil }
            return (reader.recent.suffix(while: { $0.cursor > before }), reader.end)
        }
        if let kept {
            position = max(before, kept.end)
            return kept.events.isEmpty ? nil : kept.events
        }
        let page = try await ledger.answer(EventSearch(app: app, after: before, limit: Self.page))
        position = page.end ?? before
        return page.entries.isEmpty ? nil : try page.entries.map { try StreamedEvent($0) }
    }

    // MARK: The reader of an app

    private func join(
        _ app: String, _ stream: AsyncStream<Void>.Continuation, _ generation: Int, _ newest: Int64,
        _ ledger: TimedLedger
    ) -> UInt64 {
        let (id, started) = state.withLock { state in
            state.nextID += 1
            let id = state.nextID
            // The settings were replaced meanwhile.
            guard generation == state.generation else {
                stream.finish()
                return (id, false)
            }
            let isFirst = state.readers[app] == nil
            state.readers[app, default: Reader(id: id, begin: newest, end: newest)].streams[id] = stream
            return (id, isFirst)
        }
        let begin = uptime()
        if started { Task { await read(app, id, from: begin, ledger) } }
        return id
    }

    private func leave(_ app: String, _ id: UInt64) {
        state.withLock { state in
            state.readers[app]?.streams[id] = nil
            if state.readers[app]?.streams.isEmpty ?? false { state.readers[app] = nil }
        }
    }

    /// Reads until the last stream has left. An error ends all of them: their clients connect again, and get its
    /// status.
    private func read(_ app: String, _ id: UInt64, from begin: Double, _ ledger: TimedLedger) async {
        var lastBeat = begin
        do {
            while let end = state.withLock({ $0.readers[app].flatMap { $0.id == id ? $0.end : nil } }) {
                let page = try await ledger.answer(EventSearch(app: app, after: end, limit: Self.page))
                let events = try page.entries.map { try StreamedEvent($0) }
                let isBeat = uptime() - lastBeat >= Self.beat
                if isBeat { lastBeat = uptime() }
                if isBeat || !events.isEmpty { publish(events, upTo: page.end ?? end, isBeat, app, id) }
                if page.next == nil { try await Task.sleep(for: Self.tick) }
            }
        } catch {
            logger.warning(
                "the streams of events of an app were ended, because its events could not be read",
                metadata: ["app": "\(app)", "error": "\(error)"])
            let ended = state.withLock { state in
                state.readers[app]?.id == id ? state.readers.removeValue(forKey: app)?.streams : nil
            }
            for stream in (ended ?? [:]).values { stream.finish() }
        }
    }

    private func publish(_ events: [StreamedEvent], upTo end: Int64, _ isBeat: Bool, _ app: String, _ id: UInt64) {
        let streams = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            guard state.readers[app]?.id == id, var reader = state.readers.removeValue(forKey: app) else { return [] }
            reader.recent += events
            reader.end = end
            // What an erasure removed is not kept.
            if events.contains(where: \.isErasure) { (reader.recent, reader.begin) = ([], end) }
            if reader.recent.count > Self.kept {
                let rest = reader.recent.count - Self.kept
                reader.begin = reader.recent[rest - 1].cursor
                reader.recent.removeFirst(rest)
            }
            if isBeat { reader.beats += 1 }
            state.readers[app] = reader
            return Array(reader.streams.values)
        }
        for stream in streams { stream.yield() }
    }
}

extension Array where Element == EventStreams.StreamedEvent {
    /// The last elements that a condition holds for.
    fileprivate func suffix(while condition: (Element) -> Bool) -> [Element] {
        Array(self[(lastIndex { !condition($0) }.map { $0 + 1 } ?? 0)...])
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .server
    fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .server
}
