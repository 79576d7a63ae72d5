import Logging
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// Tells the operator that Apple's certificates may have changed: notifications of an unknown issuer come, and no
/// genuine one has come for an hour. Forgeries alone do not ring it while genuine notifications come.
final class NotificationAlarm: Sendable {
    private static let quietSeconds = 3600.0

    private let uptime: @Sendable () -> Double
    private let state: Mutex<State>

    private struct State {
        /// When the last genuine notification came, or the server started.
        var genuine: Double
        var rung: Double?
        var unknown = 0
    }

    /// - Parameter uptime: seconds since any moment, never going back.
    init(uptime: @escaping @Sendable () -> Double) {
        self.uptime = uptime
        state = Mutex(State(genuine: uptime()))
    }

    /// Notes a genuine notification of an app of the settings, at its first delivery: an old one that is sent again and
    /// again says nothing about Apple's present certificates.
    func noteGenuine() {
        let now = uptime()
        state.withLock {
            $0.genuine = now
            $0.unknown = 0
        }
    }

    /// Notes a notification of an unknown issuer.
    ///
    /// - Parameters:
    ///   - error: its error, which names the issuer.
    ///   - root: the SHA-256 of the unknown root, read only for a line of the log; `nil` if it cannot be read.
    func noteUnknownIssuer(_ error: VerificationError, root: () -> String?, _ logger: Logger) {
        let now = uptime()
        let count = state.withLock { state -> Int? in
            state.unknown += 1
            guard now - state.genuine >= Self.quietSeconds,
                state.rung.map({ now - $0 >= Self.quietSeconds }) ?? true
            else { return nil }
            state.rung = now
            return state.unknown
        }
        guard let count else { return }
        logger.error(
            "notifications come from an unknown issuer, and no genuine one came for an hour; compare the issuer with Apple's certificates, and trust a new one with --trust",
            metadata: [
                "code": "\(error.code.rawValue)", "issuer": "\(error.found ?? "unknown")",
                "root_sha256": "\(root() ?? "unknown")",
                "notifications": .stringConvertible(count),
            ])
    }
}
