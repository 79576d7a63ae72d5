import AsyncHTTPClient
import EvidenceMint
import Foundation
import NIOCore
import NIOSSL
import PurchaseServer

/// A server's certificate and key in files that a test replaces.
struct CertificateFiles: Sendable {
    let certificate: URL
    let key: URL

    init(in folder: URL) {
        certificate = folder.appending(path: "tls.pem")
        key = folder.appending(path: "tls.key")
    }

    /// Writes a certificate for localhost, and then its key, as a program that renews certificates does.
    func write(_ authority: ServerCertificateAuthority, notAfter: Date? = nil) throws {
        let now = Date()
        let made = try authority.certificate(
            for: ["localhost", "127.0.0.1"], notBefore: now.addingTimeInterval(-40 * 86_400),
            notAfter: notAfter ?? now.addingTimeInterval(90 * 86_400))
        try Data(Self.pem(made.certificate).utf8).write(to: certificate, options: .atomic)
        try Data(made.privateKey.pem.utf8).write(to: key, options: .atomic)
    }

    private static func pem(_ bytes: [UInt8]) -> String {
        let base64 = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    /// The certificate as the settings read it.
    func read() throws -> ServerCertificate {
        try ServerCertificate(certificateFile: certificate.path, keyFile: key.path, Self.files)
    }

    /// Reads files without a look at their modes.
    private static let files = NamedFiles { _ throws(SettingFault) in
        []
    } secret: { path throws(SettingFault) in
        String(decoding: try bytes(path), as: UTF8.self)
    } bytes: { path throws(SettingFault) in
        try bytes(path)
    }

    private static func bytes(_ path: String) throws(SettingFault) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SettingFault("'\(path)' cannot be read", "Name a file")
        }
    }

    /// A client that trusts some authorities.
    static func client(
        trusting authorities: [ServerCertificateAuthority], _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(
            try authorities.map { try NIOSSLCertificate(bytes: $0.root.certificate, format: .der) })
        change(&tls)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = .http1Only
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
