import AsyncHTTPClient
import EvidenceMint
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// The server's own TLS, over real connections.
@Suite("31.3 TLS of the server")
struct TLSTests {
    /// A server with a certificate of an authority, whose files it looks at all the time.
    private static func run(
        _ log: RecordingLog = RecordingLog(), notAfter: Date? = nil,
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (LiveClient, CertificateFiles, ServerCertificateAuthority) async throws -> Void
    ) async throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        let (files, authority) = (CertificateFiles(in: folder), try ServerCertificateAuthority())
        try files.write(authority, notAfter: notAfter)
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
        configuration.record.folder = folder.path
        configuration.tls = try files.read()
        change(&configuration)
        var dependencies = ServerDependencies()
        dependencies.certificateInterval = .milliseconds(20)
        let server = try await startPurchaseServer(configuration, dependencies, logger: log.logger(.info))
        try await server.application().live { client in try await body(client, files, authority) }
    }

    /// The status of `/healthz`.
    private static func status(_ client: HTTPClient, _ port: Int) async throws -> Int {
        let response = try await client.execute(
            HTTPClientRequest(url: "https://localhost:\(port)/healthz"), timeout: .minutes(10))
        _ = try await response.body.collect(upTo: 1 << 16)
        return Int(response.status.code)
    }

    /// Asks with a client that is used once.
    private static func status(
        _ port: Int, trusting authority: ServerCertificateAuthority,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> Int {
        let client = try CertificateFiles.client(trusting: [authority], change)
        do {
            let status = try await status(client, port)
            try await client.shutdown()
            return status
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test("TLS 1.2 and 1.3 are spoken, 1.1 and HTTP without TLS are not")
    func versions() async throws {
        try await Self.run { client, _, authority in
            for version in [TLSVersion.tlsv12, .tlsv13] {
                let status = try await Self.status(client.port, trusting: authority) {
                    ($0.minimumTLSVersion, $0.maximumTLSVersion) = (version, version)
                }
                #expect(status == 200)
            }
            await #expect(throws: (any Error).self) {
                try await Self.status(client.port, trusting: authority) {
                    ($0.minimumTLSVersion, $0.maximumTLSVersion) = (.tlsv1, .tlsv11)
                }
            }
            let plain = try await RawConnection.request(
                port: client.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(!plain.contains("HTTP/1.1"))
        }
    }

    @Test("D.3 TLS 1.2 is spoken with suites of authenticated encryption, and no suite with CBC is accepted")
    func suites() async throws {
        try await Self.run { client, _, authority in
            let suites: [(NIOTLSCipher, isSpoken: Bool)] = [
                (.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, true), (.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, true),
                (.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, true), (.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, false),
                (.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, false),
            ]
            for (suite, isSpoken) in suites {
                var tls = TLSConfiguration.makeClientConfiguration()
                (tls.cipherSuiteValues, tls.maximumTLSVersion) = ([suite], .tlsv12)
                #expect(tls.cipherSuiteValues.contains(suite), "the client can speak it")
                let status = try? await Self.status(client.port, trusting: authority) {
                    ($0.cipherSuiteValues, $0.maximumTLSVersion) = ([suite], .tlsv12)
                }
                #expect(status == (isSpoken ? 200 : nil), "\(suite)")
            }
        }
    }

    /// What clients share while they ask.
    private final class Load: Sendable {
        let isDone = Atomic(false)
        let failures = Mutex<[String]>([])
    }

    @Test("A certificate is replaced under load: no request fails, and new connections get the new one")
    func replacement() async throws {
        let log = RecordingLog()
        try await Self.run(log) { server, files, authority in
            let next = try ServerCertificateAuthority()
            let load = Load()
            let answered = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !load.isDone.load(ordering: .relaxed) {
                            // Connections that are kept, and new ones.
                            let client = try CertificateFiles.client(trusting: [authority, next])
                            do {
                                for _ in 0..<20 where try await Self.status(client, server.port) != 200 {
                                    load.failures.withLock { $0.append("a status other than 200") }
                                }
                                answered.increment()
                            } catch {
                                load.failures.withLock { $0.append("\(error)") }
                            }
                            try await client.shutdown()
                        }
                    }
                }
                defer { load.isDone.store(true, ordering: .relaxed) }
                while answered.value < 8 { try await Task.sleep(for: .milliseconds(5)) }
                try files.write(next)
                while (try? await Self.status(server.port, trusting: next)) != 200 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                let replacedAt = answered.value
                while answered.value < replacedAt + 8 { try await Task.sleep(for: .milliseconds(5)) }
                load.isDone.store(true, ordering: .relaxed)
                try await group.waitForAll()
            }
            #expect(load.failures.withLock { $0 } == [])
            await #expect(throws: (any Error).self) { try await Self.status(server.port, trusting: authority) }
            #expect(log.lines.contains { $0.message == "new connections get another certificate" })
        }
    }

    @Test("A wrong new certificate changes nothing and is logged, and the next right one is used")
    func wrongReplacement() async throws {
        let log = RecordingLog()
        try await Self.run(log) { server, files, authority in
            try Data("no certificate\n".utf8).write(to: files.certificate, options: .atomic)
            while !log.lines.contains(where: { $0.facts["code"] == "tls_certificate_invalid" }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try await Self.status(server.port, trusting: authority) == 200)
            let next = try ServerCertificateAuthority()
            try files.write(next)
            while (try? await Self.status(server.port, trusting: next)) != 200 {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test("A key of another certificate is refused by its name, and so are files with something else or nothing")
    func faults() throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        let (files, authority) = (CertificateFiles(in: folder), try ServerCertificateAuthority())
        try files.write(authority)
        let certificate = try Data(contentsOf: files.certificate)
        #expect(try files.read().notAfter > files.read().notBefore)
        try files.write(authority)
        try certificate.write(to: files.certificate)
        func fault() -> String? {
            #expect(throws: SettingFault.self) { try files.read() }.map { "\($0)" }
        }
        #expect(fault()?.contains("is not the key of the certificate in") == true)
        try certificate.write(to: files.key)
        #expect(fault()?.contains("has no private key in PEM") == true)
        try FileManager.default.removeItem(at: files.certificate)
        #expect(fault()?.contains("cannot be read") == true)
    }

    @Test("An expired certificate is served with a warning, and one that ends within two weeks, too")
    func expired() async throws {
        for (days, code) in [(-1.0, "tls_certificate_expired"), (13, "tls_certificate_expires")] {
            let log = RecordingLog()
            try await Self.run(log, notAfter: Date().addingTimeInterval(days * 86_400)) { server, _, authority in
                let status = try await Self.status(server.port, trusting: authority) {
                    $0.certificateVerification = .none
                }
                #expect(status == 200)
            }
            #expect(log.lines.filter { $0.facts["code"]?.hasPrefix("tls_") == true }.map { $0.facts["code"] } == [code])
        }
    }

    @Test("A connection without a handshake, and one without a request, is closed after the idle time")
    func idle() async throws {
        try await Self.run {
            $0.limits.idleSeconds = 1
        } _: { server, _, authority in
            // It ends only when the server closes.
            let silent = try await RawConnection.open(port: server.port) { try await $0.readToEnd() }
            #expect(silent.isEmpty)
            let halfHello = try await RawConnection.open(port: server.port) { connection in
                try await connection.send("\u{16}\u{3}\u{1}\u{2}")
                return try await connection.readToEnd()
            }
            #expect(!halfHello.contains("HTTP/1.1"))
            #expect(try await Self.status(server.port, trusting: authority) == 200)
        }
    }

    @Test("The limit of connections per address holds over TLS")
    func connections() async throws {
        try await Self.run {
            $0.limits.connectionsPerAddress = 1
            $0.limits.uncountedAddresses = []
        } _: { server, _, authority in
            try await RawConnection.open(port: server.port) { first in
                // It has a place once the second one is refused.
                while (try? await Self.status(server.port, trusting: authority)) == 200 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await first.send("x")
            }
        }
    }

    @Test("A purchase is made over TLS")
    func purchase() async throws {
        try await Self.run { server, _, authority in
            let client = try CertificateFiles.client(trusting: [authority])
            var request = HTTPClientRequest(url: "https://localhost:\(server.port)/sandbox/verifyReceipt")
            request.method = .POST
            let receipt = Data(try MintedWorld.mint()).base64EncodedString()
            request.body = .bytes(ByteBuffer(string: #"{"receipt-data":"\#(receipt)"}"#))
            let response = try await client.execute(request, timeout: .minutes(10))
            let body = try await response.body.collect(upTo: 1 << 20)
            // The minted authority is not trusted here; the answer is Apple's all the same.
            #expect(response.status == .ok && String(buffer: body) == #"{"status":21003}"#)
            try await client.shutdown()
        }
    }
}
