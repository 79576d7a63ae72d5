import Crypto
import Foundation
import PurchaseKit
import PurchaseKitSimulator
import PurchaseVerification
import StoreKit
import StoreKitAdapters
import TestSupport
import Testing

/// A simulator that runs as a process.
struct Simulator {
    let address: URL
    let folder: URL
    let anchors: [TrustAnchor]
    private static let bundleID = "com.example.app"
    private static let customerID = "alice"

    /// The program as the packages build it.
    static let program: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let places = [".build/release/assay", ".build/debug/assay"].map { root.appendingPathComponent($0).path }
        return places.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    static func run(_ body: (Simulator) async throws -> Void) async throws {
        let name = "assay-stand-in-\(UUID().uuidString)"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A folder that stays behind in the temporary folder harms nothing.
            try? FileManager.default.removeItem(at: folder)
        }
        let process = ChildProcess()
        process.executable = try #require(program)
        process.arguments = ["simulate", "--port", "0", "--authority", folder.appendingPathComponent("authority").path]
        process.folder = folder
        let output = Pipe()
        process.output = output.fileHandleForWriting
        try process.run()
        try output.fileHandleForWriting.close()
        defer { process.terminate() }
        var line = ""
        while !line.hasSuffix("\n") {
            let data = output.fileHandleForReading.readData(ofLength: 1)
            guard !data.isEmpty else { break }
            line += String(decoding: data, as: UTF8.self)
        }
        let words = line.split { " ;\n".contains($0) }
        let found = try #require(words.first { $0.hasPrefix("http://") }, "\(line)")
        let address = try #require(URL(string: String(found)))
        let trust = folder.appendingPathComponent("authority").appendingPathComponent("trust.pem")
        let lines = try String(contentsOf: trust, encoding: .utf8).split(separator: "\n")
        let anchors = try lines.split { $0.hasPrefix("-----") }.compactMap { Data(base64Encoded: $0.joined()) }.map {
            try TrustAnchor(certificate: [UInt8]($0))
        }
        StandInStore.current = StandInStore(
            address: address, bundleID: bundleID, customerID: customerID,
            receipt: folder.appendingPathComponent("receipt"))
        let simulator = Simulator(address: address, folder: folder, anchors: anchors)
        try await simulator.openShop()
        try await StandInDevice.load()
        try await body(simulator)
    }

    /// An engine, as a rule without a server: the adapters are what is tested here.
    func engine(
        _ queue: any PaymentQueue, _ receipts: any ReceiptSource, _ server: PurchaseConnection? = nil
    ) throws -> PurchaseEngine {
        PurchaseEngine(
            queue: queue, receipts: receipts,
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: Self.bundleID, version: "1.0"), device: AppleDevice(), anchors: anchors),
            server: server,
            store: FilePurchaseStore(
                file: folder.appendingPathComponent("purchases"), key: SymmetricKey(size: .bits256)))
    }

    /// The same store, by the queue for debug builds.
    var store: SimulatedStore {
        SimulatedStore(address: address.absoluteString, bundleID: Self.bundleID, customerID: Self.customerID)
    }

    private func openShop() async throws {
        try await post("control/apps", ["bundle_id": Self.bundleID], isControl: true)
        for (product, kind) in [("coins", "consumable"), ("pro", "non-consumable")] {
            try await post(
                "control/products", ["bundle_id": Self.bundleID, "product_id": product, "kind": kind], isControl: true)
        }
        let offer: [String: Any] = [
            "offer_id": "back", "kind": "win-back", "mode": "FREE_TRIAL", "period": "P1M", "price": 0,
        ]
        try await post(
            "control/products",
            [
                "bundle_id": Self.bundleID, "product_id": "monthly", "kind": "auto-renewable", "price": 9990,
                "subscription": ["group_id": "club", "period": "P1M", "offers": [offer]],
            ], isControl: true)
        try await post("control/customers", ["environment": "production"], isControl: true)
    }

    /// What a tester does, or another device of the customer.
    func post(_ path: String, _ body: [String: Any], isControl: Bool = false) async throws {
        var body = body
        let without = ["apps", "products", "transactions", "subscriptions", "clock"]
        let isOfCustomer = !without.contains { path.contains("/\($0)") }
        if isOfCustomer { body["customer_id"] = Self.customerID }
        if !isControl { body["bundle_id"] = Self.bundleID }
        let process = ChildProcess()
        process.executable = "/usr/bin/curl"
        let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        process.arguments = [
            "-sSf", "-H", "Content-Type: application/json", "--data", json,
            address.appendingPathComponent(path).absoluteString,
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(path) \(json)")
    }
}
