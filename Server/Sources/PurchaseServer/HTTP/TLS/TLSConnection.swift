import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import Synchronization

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
