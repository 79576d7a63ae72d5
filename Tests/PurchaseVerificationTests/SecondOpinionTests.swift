import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// A sample of the comparison in `make torture`: OpenSSL's verdict on the same bytes.
@Suite("A second opinion", .enabled(if: SecondOpinion.isThere, "OpenSSL 3 is not installed"))
struct SecondOpinionTests {
    @Test("OpenSSL and the core agree on changed receipts, except for the core's stricter rules")
    func receipts() throws {
        let genuine = try MintedWorld.mint()
        let root = try MintedWorld.authority().root
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: root.certificate)])
        // The embedded root has no effect here, and OpenSSL may be unable to read a damaged one.
        let rootStart = try #require(
            (0...(genuine.count - root.certificate.count)).first { genuine[$0...].starts(with: root.certificate) })
        let embeddedRoot = rootStart..<(rootStart + root.certificate.count)
        var generator = SystemGenerator(seed: 20_261_121)
        var (both, neither, stricter, unneeded) = (0, 0, 0, 0)
        for round in 0..<80 {
            var receipt = genuine
            let offset = Int(generator.next() % UInt64(genuine.count))
            if round > 0 { receipt[offset] ^= 1 << UInt8(generator.next() % 8) }
            let theirs = try SecondOpinion.accepts(receipt, root: root.pem)
            do throws(VerificationError) {
                _ = try verifier.verifyAppReceipt(receipt, policies: [])
                if theirs { both += 1 } else { unneeded += 1 }
                #expect(theirs || embeddedRoot.contains(offset), "only the core accepts a change at \(offset)")
            } catch {
                if theirs { stricter += 1 } else { neither += 1 }
                // Evidence that only OpenSSL accepts violates a format rule, or one of Apple's rules; its signatures
                // are always valid.
                #expect(!theirs || ![.signatureInvalid, .certificateSignatureInvalid].contains(error.code), "\(error)")
            }
        }
        #expect(both > 0 && neither > 0)
        print(
            "second opinion: \(both) both accept, \(neither) both refuse, \(stricter) only OpenSSL, \(unneeded) only the core"
        )
    }
}

/// Numbers that are the same in each run.
private struct SystemGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

private enum SecondOpinion {
    /// LibreSSL has the same program name, but not the same options.
    static let isThere = (try? run("sh", ["-c", "openssl version | grep -q '^OpenSSL 3'"])) == 0

    /// Whether OpenSSL accepts signature and path at the time of the receipt.
    static func accepts(_ receipt: [UInt8], root: String) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, anchor) = (folder.appendingPathComponent("receipt"), folder.appendingPathComponent("root.pem"))
        try Data(receipt).write(to: file)
        try Data(root.utf8).write(to: anchor)
        return try run(
            "openssl",
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", file.path, "-CAfile", anchor.path, "-purpose",
                "any",
                "-attime", "\(Int(MintedWorld.moment.timeIntervalSince1970))", "-out", "/dev/null",
            ]) == 0
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = ChildProcess()
        process.executable = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
