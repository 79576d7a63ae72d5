import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// The app as a process (`Tests/KitApp`).
enum KitProcess {
    struct Result: Sendable {
        let output: String
        /// The exit status, or the signal that ended it.
        let status: Int32
    }

    static func run(
        _ device: KitDevice, in folder: URL, step: Int, proof: String, order: String?, _ command: String
    ) async throws -> Result {
        let trust = try MintedWorld.trustedCertificates().map { Data($0).base64EncodedString() }
        let arguments = [
            "\(device.world.simulator.port)", "http://127.0.0.1:\(device.world.server.port)", folder.path,
            device.world.clientKey, device.world.signer.publicKey, trust.joined(separator: ","), device.customer,
            "\(step)", proof, order ?? "-", command,
        ]
        return try await blocking {
            let process = ChildProcess()
            process.executable = program
            process.arguments = arguments
            process.folder = folder
            process.environment = ["PATH": "/usr/bin:/bin"]
            process.mergesErrors = true
            let output = Pipe()
            process.output = output.fileHandleForWriting
            try process.run()
            try output.fileHandleForWriting.close()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return Result(output: text, status: process.terminationStatus)
        }
    }

    /// The program as built beside the tests.
    private static let program: String = {
        let folders = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0])]
            .flatMap {
                [$0, $0.deletingLastPathComponent(), $0.deletingLastPathComponent().deletingLastPathComponent()]
            }
        let paths = folders.map { $0.appending(path: "kit-app").path }
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/nonexistent/kit-app"
    }()
}
