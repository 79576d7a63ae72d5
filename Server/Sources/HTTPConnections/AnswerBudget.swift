import NIOCore
import Synchronization

/// Counts the bytes of answers that wait because their clients do not take them, of all connections together.
///
/// Beyond the server's limit, the connection that has made no progress for the longest time is closed.
public final class AnswerBudget: Sendable {
    /// Twice the answer to the largest body of `verifyReceipt` (17 MiB): an answer has three times the bytes of its
    /// receipt.
    public static let connectionBytes = 128 << 20
    /// As much as all bodies of requests may take (`bufferedBytes`). 256 clients on a slow network can each take an
    /// answer of 1 MB at the same time.
    public static let serverBytes = 256 << 20

    private let connectionBytes: Int
    private let serverBytes: Int
    private let state = Mutex(State())

    fileprivate struct State {
        var bytes = 0
        var connections: [ObjectIdentifier: Holder] = [:]
    }

    fileprivate struct Holder {
        var bytes: Int
        var lastProgress: NIODeadline
        let close: @Sendable () -> Void
    }

    /// A budget.
    ///
    /// - Parameters:
    ///   - connectionBytes: the limit of one connection.
    ///   - serverBytes: the limit of all connections together.
    public init(
        connectionBytes: Int = AnswerBudget.connectionBytes, serverBytes: Int = AnswerBudget.serverBytes
    ) {
        self.connectionBytes = connectionBytes
        self.serverBytes = serverBytes
    }

    /// The bytes that wait now.
    public var heldBytes: Int { state.withLock { $0.bytes } }

    /// Counts what a connection holds, instead of what it held before.
    func hold(_ connection: AnyObject, _ bytes: Int, close: @escaping @Sendable () -> Void) {
        let id = ObjectIdentifier(connection)
        let closed = state.withLock { state -> (@Sendable () -> Void)? in
            state.bytes += bytes - (state.connections[id]?.bytes ?? 0)
            var holder = state.connections[id] ?? Holder(bytes: 0, lastProgress: .now(), close: close)
            holder.bytes = bytes
            state.connections[id] = holder
            if bytes > connectionBytes { return state.remove(id) }
            guard state.bytes > serverBytes else { return nil }
            return state.connections.min { $0.value.lastProgress < $1.value.lastProgress }
                .flatMap { state.remove($0.key) }
        }
        closed?()
    }

    /// Notes that the client took a part of its answer.
    func noteProgress(_ connection: AnyObject) {
        state.withLock { $0.connections[ObjectIdentifier(connection)]?.lastProgress = .now() }
    }

    /// Stops counting what a connection held.
    func release(_ connection: AnyObject) {
        state.withLock { _ = $0.remove(ObjectIdentifier(connection)) }
    }
}

extension AnswerBudget.State {
    fileprivate mutating func remove(_ id: ObjectIdentifier) -> (@Sendable () -> Void)? {
        guard let holder = connections.removeValue(forKey: id) else { return nil }
        bytes -= holder.bytes
        return holder.close
    }
}
