import Foundation
import NIOSSL
package import PurchaseVerification

/// The certificate of the listener for clients, with its key, as they were read from their files.
public struct ServerCertificate: Sendable {
    /// The file of the certificate and those that lead to its authority, in PEM.
    package let certificateFile: String
    /// The file of its private key, in PEM.
    package let keyFile: String
    private let files: NamedFiles
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// Reads both files, and compares them.
    ///
    /// - Throws: which of them is wrong, and what to do.
    package init(certificateFile: String, keyFile: String, _ files: NamedFiles) throws(SettingFault) {
        (self.certificateFile, self.keyFile, self.files) = (certificateFile, keyFile, files)
        chain = try Self.chain(certificateFile, files)
        key = try Self.key(keyFile, files)
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Self.mismatch(certificateFile, keyFile)
        }
    }

    /// The same files, read again.
    func reread() throws(SettingFault) -> ServerCertificate {
        try ServerCertificate(certificateFile: certificateFile, keyFile: keyFile, files)
    }

    /// When the certificate ends.
    package var notAfter: AppStoreTime { Self.time(chain.first?.notValidAfter ?? 0) }
    /// When it begins.
    package var notBefore: AppStoreTime { Self.time(chain.first?.notValidBefore ?? 0) }

    /// Whether another one has the same certificates.
    func isSame(as other: ServerCertificate) -> Bool { chain == other.chain }

    /// TLS 1.3, and 1.2 with suites of forward secrecy and authenticated encryption alone (RFC 9325, 4.2).
    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }

    /// The certificates of a file.
    static func chain(_ path: String, _ files: NamedFiles) throws(SettingFault) -> [NIOSSLCertificate] {
        let bytes = try files.bytes(path)
        do {
            return try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw SettingFault(
                "'\(path)' has no certificates in PEM",
                "Name the file with the server's certificate and those that lead to its authority, in this order", .file
            )
        }
    }

    /// The private key of a file that only the server's user can read.
    static func key(_ path: String, _ files: NamedFiles) throws(SettingFault) -> NIOSSLPrivateKey {
        let remedy = "Name the PEM file of the certificate's private key, which only the server's user can read"
        let text: String
        do throws(SettingFault) {
            text = try files.privateKey(path)
        } catch {
            throw SettingFault(error.fault, remedy, error.code)
        }
        do {
            return try NIOSSLPrivateKey(bytes: Array(text.utf8), format: .pem)
        } catch {
            throw SettingFault("'\(path)' has no private key in PEM", remedy, .file)
        }
    }

    private static func mismatch(_ certificate: String, _ key: String) -> SettingFault {
        SettingFault(
            "'\(key)' is not the key of the certificate in '\(certificate)'",
            "Name the key that the certificate was made for", .conflict)
    }

    private static func time(_ seconds: time_t) -> AppStoreTime {
        AppStoreTime(millisecondsSince1970: Int64(seconds) * 1000)
    }
}
