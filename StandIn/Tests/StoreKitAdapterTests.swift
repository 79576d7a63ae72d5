import Crypto
import Foundation
import PurchaseKit
import PurchaseVerification
import StoreKit
import StoreKitAdapters
import TestSupport
import Testing

/// The adapters, compiled from the sources that are shipped, against the stand-in, which is a client of a simulator that runs as a
/// process. One test after the other, because a process has one store.
@Suite(
    "The StoreKit adapters", .serialized,
    .enabled(if: Simulator.program != nil, "build the program first: make build"))
struct StoreKitAdapterTests {
    @Test("StoreKit 2: a purchase, an update and a restore end granted and finished")
    func storeKit2() async throws {
        try await Simulator.run { simulator in
            let engine = try simulator.engine(StoreKit2Queue(), NoReceiptSource())
            let outcome = await engine.buy("coins", quantity: 2)
            #expect(outcome.isGranted, "\(outcome)")
            #expect(try await engine.balance(of: "coins") == 2)
            let run = Task { await engine.run() }
            defer { run.cancel() }
            let events = await engine.events()
            try await Task.sleep(nanoseconds: 200_000_000)
            // Bought on another device.
            try await simulator.post("app/purchases", ["product_id": "pro"])
            for await event in events where event.kind == .granted && event.productID == "pro" { break }
            while try await StoreKit2Queue().unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            let summary = await engine.restore()
            #expect(summary.granted.map(\.productID) == ["pro"] && summary.error == nil, "\(summary)")
            #expect(await engine.buy("nothing").code == "queue_failed")
        }
    }

    @Test(
        "The original API: StoreKit 2's signed transaction proves the purchase, and without a receipt nothing is refreshed"
    )
    func signedProof() async throws {
        try await Simulator.run { simulator in
            let receipt = simulator.folder.appendingPathComponent("receipt")
            let queue = OriginalQueue(shouldAddStorePayment: { $0 == "pro" })
            try await Self.buy("pro", with: try simulator.engine(queue, DeviceReceipt(file: receipt)), queue)
            #expect(!FileManager.default.fileExists(atPath: receipt.path))
            #expect(SKPaymentQueue.default().offer("pro").contains(true))
            #expect(!SKPaymentQueue.default().offer("coins").suffix(1).contains(true))
        }
    }

    @Test("The original API: a transaction's own receipt proves it where there is no app receipt")
    func transactionReceipt() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue(prefersSignedTransactions: false)
            let receipt = DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt"))
            try await Self.buy("pro", with: try simulator.engine(queue, receipt), queue)
        }
    }

    @Test("The original API: a restored transaction with an id of its own is no second purchase, and can be withdrawn")
    func restored() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue()
            let engine = try simulator.engine(
                queue, DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt")))
            try await Self.buy("pro", with: engine, queue)
            try await DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt")).refresh()
            let summary = await engine.restore()
            #expect(summary.granted.map(\.productID) == ["pro"] && summary.error == nil, "\(summary)")
            #expect(try await engine.purchases().count == 1)
            let events = await engine.events()
            let run = Task { await engine.run() }
            defer { run.cancel() }
            try await Task.sleep(nanoseconds: 200_000_000)
            SKPaymentQueue.default().withdraw(["pro"])
            for await event in events where event.kind == .revoked { break }
            #expect(try await engine.entitlements().map(\.isActive) == [false])
        }
    }

    @Test("The app transaction is verified, and its refresh brings a receipt", arguments: [true, false])
    func appTransaction(isForged: Bool) async throws {
        try await Simulator.run { simulator in
            let file = simulator.folder.appendingPathComponent("receipt")
            let receipt = DeviceReceipt(file: file, refresher: .appTransaction)
            try await simulator.post("app/purchases", ["product_id": "pro"])
            try await receipt.refresh()
            #expect(FileManager.default.fileExists(atPath: file.path))
            var signed = try #require(try await receipt.appTransaction())
            if isForged { signed = signed.dropLast(8) + "AAAAAAAA" }
            let engine = try simulator.engine(StoreKit2Queue(), receipt)
            #expect(try await engine.verifiedReceipt() != nil)
            do {
                try await engine.verify(appTransaction: signed)
                #expect(!isForged)
            } catch let error as PurchaseError {
                #expect(isForged && error.code.rawValue == "signature_invalid", "\(error)")
            }
        }
    }

    /// Buys a product by the original API, and waits until it is granted and finished.
    private static func buy(_ product: String, with engine: PurchaseEngine, _ queue: OriginalQueue) async throws {
        let events = await engine.events()
        let run = Task { await engine.run() }
        defer { run.cancel() }
        #expect(await engine.buy(product) == .pending)
        for await event in events {
            #expect(event.kind == .granted, "\(event)")
            break
        }
        while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
    }

    @Test("The original API: the queue delivers, the receipt proves, and a failed payment leaves the queue")
    func originalAPI() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue(prefersSignedTransactions: false)
            let receipt = DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt"))
            // A receipt without the purchase, which is refreshed once.
            try await receipt.refresh()
            let engine = try simulator.engine(queue, receipt)
            let events = await engine.events()
            let run = Task { await engine.run() }
            defer { run.cancel() }
            #expect(await engine.buy("coins") == .pending)
            for await event in events where event.kind == .granted { break }
            while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            #expect(try await engine.balance(of: "coins") == 1)
            try await simulator.post("control/payments/mode", ["mode": "interrupted"], isControl: true)
            _ = await engine.buy("coins")
            for await event in events where event.kind == .failed { break }
            while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            #expect(try await engine.balance(of: "coins") == 1)
        }
    }
}

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

    /// An engine without a server: the adapters are what is tested here.
    func engine(_ queue: any PaymentQueue, _ receipts: any ReceiptSource) throws -> PurchaseEngine {
        PurchaseEngine(
            queue: queue, receipts: receipts,
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: Self.bundleID, version: "1.0"), device: AppleDevice(), anchors: anchors),
            server: nil,
            store: FilePurchaseStore(
                file: folder.appendingPathComponent("purchases"), key: SymmetricKey(size: .bits256)))
    }

    private func openShop() async throws {
        try await post("control/apps", ["bundle_id": Self.bundleID], isControl: true)
        for (product, kind) in [("coins", "consumable"), ("pro", "non-consumable")] {
            try await post(
                "control/products", ["bundle_id": Self.bundleID, "product_id": product, "kind": kind], isControl: true)
        }
        try await post("control/customers", ["environment": "production"], isControl: true)
    }

    /// What a tester does, or another device of the customer.
    func post(_ path: String, _ body: [String: Any], isControl: Bool = false) async throws {
        var body = body
        if !path.hasSuffix("apps"), !path.hasSuffix("products") { body["customer_id"] = Self.customerID }
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
