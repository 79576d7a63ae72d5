import EvidenceMint
import Foundation
import TestSupport
import Testing

/// The OpenSSL program: an independent verifier of certificates and signatures that shares no code with the simulator.
enum OpenSSL {
    struct Verdict {
        let status: Int32
        let text: String

        var isGood: Bool { status == 0 }
    }

    /// The message of a skipped test.
    static let absence: Comment = "OpenSSL 3 is not installed here, so nobody else judged what the simulator made."

    /// LibreSSL has the same program name, but not the same options.
    static let isInstalled = (try? run(["version"]).text.hasPrefix("OpenSSL 3")) ?? false

    #if os(macOS) || os(Linux)
        /// Runs a command and waits for it. The text is its output on both streams.
        static func run(_ arguments: [String]) throws -> Verdict {
            let process = ChildProcess()
            let output = Pipe()
            process.executable = "openssl"
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment
            process.output = output.fileHandleForWriting
            process.mergesErrors = true
            try process.run()
            // Otherwise the pipe would stay open after the program ends.
            try output.fileHandleForWriting.close()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Verdict(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
        }
    #else
        static func run(_ arguments: [String]) throws -> Verdict {
            Verdict(status: 127, text: "There are no other programs on this system.")
        }
    #endif
}

/// A folder that is deleted after the test.
final class ScratchFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("simulator-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url.appendingPathComponent(name)))
    }
}

extension OpenSSL {
    /// Verifies a signature over bytes with the public key of a certificate.
    static func verify(
        _ signature: [UInt8], of bytes: [UInt8], by certificate: [UInt8], digest: String
    ) throws -> Verdict {
        let scratch = try ScratchFolder()
        let certificate = try scratch.file("certificate.der", certificate)
        let key = scratch.url.appendingPathComponent("key.pem").path
        let extracted = try run(["x509", "-inform", "DER", "-in", certificate, "-noout", "-pubkey", "-out", key])
        guard extracted.isGood else { return extracted }
        return try run([
            "dgst", "-\(digest)", "-verify", key, "-signature", try scratch.file("signature", signature),
            try scratch.file("bytes", bytes),
        ])
    }

    /// Verifies a certificate below an anchor at a time. Keys of 1024 bits and SHA-1 are allowed, as Apple used them.
    static func verify(
        _ certificate: [UInt8], below intermediates: [[UInt8]], anchor: SigningIdentity, at date: Date
    ) throws -> Verdict {
        let scratch = try ScratchFolder()
        func pem(_ certificates: [[UInt8]]) -> [UInt8] {
            let blocks = certificates.map { certificate in
                let base64 = Data(certificate)
                    .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
                return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
            }
            return Array(blocks.joined().utf8)
        }
        return try run([
            "verify", "-auth_level", "0", "-no-CApath", "-no-CAstore",
            "-attime", String(Int(date.timeIntervalSince1970)),
            "-CAfile", try scratch.file("anchor.pem", pem([anchor.certificate])),
            "-untrusted", try scratch.file("intermediates.pem", pem(intermediates)),
            try scratch.file("certificate.pem", pem([certificate])),
        ])
    }
}
