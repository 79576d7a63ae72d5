import EvidenceMint
import Foundation
import NIOCore
import NIOSSL

/// The certificates of the simulator's HTTPS: the valid one, and one for each fault.
struct StoreCertificates: Sendable {
    private let valid: Certificate
    private let faulty: [CertificateFault.Kind: Certificate]

    /// A chain and its key.
    private struct Certificate: Sendable {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource

        init(_ server: SigningIdentity, _ authority: ServerCertificateAuthority) throws {
            chain = [
                .certificate(try NIOSSLCertificate(bytes: server.certificate, format: .der)),
                .certificate(try NIOSSLCertificate(bytes: authority.root.certificate, format: .der)),
            ]
            key = .privateKey(try NIOSSLPrivateKey(bytes: Array(server.privateKey.pem.utf8), format: .pem))
        }
    }

    /// - Parameters:
    ///   - authority: the authority that clients trust.
    ///   - hosts: the names and addresses of the simulator.
    ///   - now: the real time; a client checks certificates by its own clock, not by the store's.
    init(_ authority: ServerCertificateAuthority, hosts: [String], now: Date) throws {
        let day = 86_400.0
        valid = try Certificate(authority.certificate(for: hosts), authority)
        let stranger = try ServerCertificateAuthority()
        faulty = [
            .wrongHost: try Certificate(authority.certificate(for: ["wrong.example"]), authority),
            .expired: try Certificate(
                authority.certificate(
                    for: hosts, notBefore: now.addingTimeInterval(-30 * day), notAfter: now.addingTimeInterval(-day)),
                authority),
            .unknownIssuer: try Certificate(stranger.certificate(for: hosts), stranger),
        ]
    }

    /// TLS that asks for the fault of each connection when it begins.
    func configuration(_ takeFault: @escaping @Sendable () async throws -> CertificateFault.Kind?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: valid.chain, privateKey: valid.key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let faulty = faulty
        configuration.sslContextCallback = { _, promise in
            promise.completeWithTask {
                guard let fault = try await takeFault(), let certificate = faulty[fault] else { return .noChanges }
                var override = NIOSSLContextConfigurationOverride()
                override.certificateChain = certificate.chain
                override.privateKey = certificate.key
                return override
            }
        }
        return configuration
    }
}
