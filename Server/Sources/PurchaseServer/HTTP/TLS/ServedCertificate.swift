import Foundation
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import PurchaseVerification
import Synchronization

/// The certificate that new connections get. A new one replaces it at any time; open connections keep theirs.
final class ServedCertificate: Sendable {
    /// Before its end, an operator is told each day: this time in milliseconds is left to replace it.
    static let notice: Int64 = 14 * 86_400_000

    private let state: Mutex<(number: Int, certificate: ServerCertificate)>
    private let metrics: ServerMetrics

    init(_ certificate: ServerCertificate, _ metrics: ServerMetrics) {
        state = Mutex((0, certificate))
        self.metrics = metrics
    }

    /// The certificate, and a number that grows with each replacement.
    var current: (number: Int, certificate: ServerCertificate) { state.withLock { $0 } }

    /// Serves another certificate from now on.
    func replace(by certificate: ServerCertificate, _ logger: Logger) {
        let isNew = state.withLock { state in
            let isNew = !state.certificate.isSame(as: certificate)
            // The key may be another one, or only in another file.
            state = (state.number + 1, certificate)
            return isNew
        }
        guard isNew else { return }
        metrics.noteCertificate("loaded")
        logger.notice(
            "new connections get another certificate", metadata: ["expires": "\(certificate.notAfter)"])
        certificate.warn(logger)
    }

    /// Keeps the certificate, because what was read is wrong.
    func refuse(_ fault: String, _ logger: Logger) {
        metrics.noteCertificate("refused")
        logger.error(
            "the new certificate is not used; new connections get the one before",
            metadata: ["code": "tls_certificate_invalid", "reason": "\(fault)"])
    }
}

extension ServerCertificate {
    /// Warns of a certificate that clients refuse now or soon.
    func warn(_ logger: Logger) {
        let now = AppStoreTime(Date())
        let left = notAfter.millisecondsSince1970 - now.millisecondsSince1970
        if left <= 0 {
            logger.warning(
                "the certificate of the server has expired, and clients refuse it; replace it",
                metadata: ["code": "tls_certificate_expired", "expired": "\(notAfter)"])
        } else if left <= ServedCertificate.notice {
            logger.warning(
                "the certificate of the server expires soon; replace it",
                metadata: ["code": "tls_certificate_expires", "expires": "\(notAfter)"])
        } else if notBefore > now {
            logger.warning(
                "the certificate of the server is not valid yet; compare the clock",
                metadata: ["code": "tls_certificate_not_yet_valid", "begins": "\(notBefore)"])
        }
    }
}

/// A connection of HTTP/1.1 over TLS, with the certificate that is served when it is opened. All limits of
/// `HTTPConnection` hold; the idle time includes the handshake.
final class TLSConnection: HTTPChannelHandler {
    typealias Value = HTTPConnection.Value

    private let connection: HTTPConnection
    private let served: ServedCertificate
    private let latest: Mutex<(number: Int, channel: TLSChannel<HTTPConnection>)>

    /// - Throws: the library's error for a certificate that it does not take, which `ServerCertificate` has ruled out.
    init(_ connection: HTTPConnection, _ served: ServedCertificate) throws {
        self.connection = connection
        self.served = served
        let (number, certificate) = served.current
        latest = Mutex((number, try TLSChannel(connection, tlsConfiguration: certificate.configuration)))
    }

    var responder: HTTPChannelHandler.Responder { connection.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        current(logger).setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        await connection.handle(value: value, logger: logger)
    }

    private func current(_ logger: Logger) -> TLSChannel<HTTPConnection> {
        let (number, certificate) = served.current
        return latest.withLock { latest in
            guard number > latest.number else { return latest.channel }
            do {
                latest = (number, try TLSChannel(connection, tlsConfiguration: certificate.configuration))
            } catch {
                latest.number = number
                served.refuse("\(error)", logger)
            }
            return latest.channel
        }
    }
}
