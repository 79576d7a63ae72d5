import Crypto
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

    /// Notes a genuine notification.
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
    ///   - header: the part of the signed payload that holds its certificates.
    func noteUnknownIssuer(_ error: VerificationError, header: ArraySlice<UInt8>, _ logger: Logger) {
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
                "certificates_sha256": "\(Array(SHA256.hash(data: header)).hexadecimal)",
                "notifications": .stringConvertible(count),
            ])
    }
}
