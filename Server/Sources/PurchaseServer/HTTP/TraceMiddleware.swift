import AppStoreConnection
package import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Passes the trace of a request on to its lines in the log, and to the calls of the App Store that it causes. A
/// request without a trace gets none.
struct TraceMiddleware: RouterMiddleware {
    // Created once, because each name is checked when it is created.
    private let name = HTTPField.Name("traceparent")

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let name, let value = request.headers[name], let trace = TraceParent(value) else {
            return try await next(request, context)
        }
        var context = context
        context.logger[metadataKey: "trace"] = "\(trace.traceID)"
        return try await OutgoingTrace.$parent.withValue(trace.text) { [context] in try await next(request, context) }
    }
}

/// The header `traceparent` of a request (W3C Trace Context, 3.2): the trace that it belongs to, and the caller's span.
///
/// Only the form of version 00 goes in and out, so it has 55 characters, all hexadecimal digits and dashes. A header of
/// any other form is ignored, as the standard says. `tracestate` is not read: the standard allows to discard it, and
/// its text would go from any sender to other systems.
struct TraceParent: Sendable, Equatable {
    /// The header, as it is passed on.
    let text: String

    private static let length = 55

    /// Reads the value of a header; `nil` if it is not of this form.
    init?(_ value: String) {
        let bytes = Array(value.utf8.prefix(Self.length + 1))
        guard bytes.count == Self.length else { return nil }
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 2, 35, 52: guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) else { return nil }
            }
        }
        let zero = UInt8(ascii: "0")
        // Zeros alone are no id (3.2.2.3, 3.2.2.4).
        guard bytes[0] == zero, bytes[1] == zero, bytes[3..<35].contains(where: { $0 != zero }),
            bytes[36..<52].contains(where: { $0 != zero })
        else { return nil }
        text = value
    }

    /// The id of the trace, for the log: 32 hexadecimal digits.
    var traceID: Substring { text.dropFirst(3).prefix(32) }
}

/// The traces of the requests that wrote the latest journal entries, for the webhooks that tell of them.
///
/// It is the memory of one server: the events of entries that another server wrote, or this one before a restart, are
/// delivered without a trace. A column of the journal would keep what a sender chose for good.
package final class RecentTraces: Sendable {
    /// The most entries that are remembered; a delivery usually follows within a second.
    private static let limit = 4096

    private let state = Mutex(State())

    private struct State {
        var traces: [UUID: String] = [:]
        /// The entries in the order in which they were noted; a ring.
        var order: [UUID] = []
        var next = 0
    }

    package init() {}

    /// Remembers the trace of the current request, if it has one, for an entry that it wrote.
    package func note(_ entry: UUID?) {
        guard let entry, let trace = OutgoingTrace.parent else { return }
        state.withLock { state in
            guard state.traces.updateValue(trace, forKey: entry) == nil else { return }
            guard state.order.count == Self.limit else { return state.order.append(entry) }
            state.traces[state.order[state.next]] = nil
            state.order[state.next] = entry
            state.next = (state.next + 1) % Self.limit
        }
    }

    func trace(of entry: UUID) -> String? { state.withLock { $0.traces[entry] } }
}
