import Logging
import PurchaseVerification
import Synchronization

/// Tells the operator that evidence is signed under an authority that had just ended: once an hour for each
/// certificate, whatever the evidence.
final class EndedAuthorityAlarm: Sendable {
    private static let quietSeconds = 3600.0

    private let uptime: @Sendable () -> Double
    private let logger: Logger
    private let rung = Mutex<[String: Double]>([:])

    /// - Parameter uptime: seconds since any moment, never going back.
    init(uptime: @escaping @Sendable () -> Double, _ logger: Logger) { (self.uptime, self.logger) = (uptime, logger) }

    /// Notes why evidence did not verify. The certificate leads to a trusted root, so nobody can make up names.
    func note(_ error: VerificationError?) {
        guard let error, error.code == .certificateJustExpired else { return }
        let (certificate, now) = (error.expected ?? "", uptime())
        let isNew = rung.withLock { rung in
            rung = rung.filter { now - $0.value < Self.quietSeconds }
            return rung.updateValue(rung[certificate] ?? now, forKey: certificate) == nil
        }
        guard isNew else { return }
        logger.warning(
            "evidence is signed under an authority that had just ended; it is to be sent again until 48 hours after that",
            metadata: [
                "code": "\(error.code.rawValue)", "certificate": "\(certificate)", "signed_at": "\(error.found ?? "")",
            ])
    }
}
