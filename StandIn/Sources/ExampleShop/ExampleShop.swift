import Crypto
import Foundation
import PurchaseKit
import PurchaseVerification
import StoreKit
import StoreKitAdapters

/// The example app as a program: StoreKit is the stand-in, which asks the store of `assay dev`. Each start is a launch
/// of the app. docs/app.md runs it.
///
///     example-shop [buy PRODUCT | restore | wait]
@main
struct ExampleShop {
    @MainActor
    static func main() async throws {
        StandInStore.current = StandInStore(
            address: try address("STORE"), bundleID: "com.example.app", customerID: "alice",
            receipt: URL(fileURLWithPath: "receipt"))
        try await StandInDevice.load()
        let queue = StoreKit2Queue()
        let app = ExampleApp(
            queue: queue, receipts: NoReceiptSource(),
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: "com.example.app", version: "1.0"), device: AppleDevice(),
                anchors: try anchors()),
            server: PurchaseConnection(
                service: HTTPPurchaseService(server: try address("SERVER")), key: try value("CLIENT_KEY"),
                answerKeys: try AnswerKeys(current: try value("ANSWER_KEY"))),
            store: FilePurchaseStore(file: URL(fileURLWithPath: "purchases"), key: try storeKey()))
        await app.launch(customer: "alice")
        switch CommandLine.arguments.dropFirst().first {
        case "buy": await app.buy(CommandLine.arguments.last ?? "")
        case "restore": await app.restore()
        case "wait":
            try await wait { !app.messages.isEmpty }
            print(app.messages.joined(separator: "\n"))
            return
        default: try await wait { try await queue.unfinished().isEmpty }
        }
        app.messages.forEach { print($0) }
        print("coins: \(app.coins), pro: \(app.isPro ? "yes" : "no")")
        app.quit()
    }

    /// Waits for two minutes at most.
    @MainActor
    private static func wait(_ isOver: @MainActor () async throws -> Bool) async throws {
        let end = Date().addingTimeInterval(120)
        while try await !isOver(), Date() < end { try await Task.sleep(nanoseconds: 20_000_000) }
    }

    /// What an app has in its source, `assay dev` prints.
    private static func value(_ name: String) throws -> String {
        guard let text = ProcessInfo.processInfo.environment[name] else { throw Missing(name: name) }
        return text
    }

    private static func address(_ name: String) throws -> URL {
        guard let url = URL(string: try value(name)) else { throw Missing(name: name) }
        return url
    }

    /// The simulated store's roots. An app that is sold leaves `anchors` out and trusts Apple's.
    private static func anchors() throws -> [TrustAnchor] {
        try ["root.der", "signed-data/root.der"].map { name in
            let file = URL(fileURLWithPath: "assay-dev/authority").appendingPathComponent(name)
            return try TrustAnchor(certificate: [UInt8](try Data(contentsOf: file)))
        }
    }

    /// The key of the file of purchases. On Apple's systems `KeychainPurchaseStore` needs none.
    private static func storeKey() throws -> SymmetricKey {
        let file = URL(fileURLWithPath: "purchases.key")
        if !FileManager.default.fileExists(atPath: file.path) {
            try SymmetricKey(size: .bits256).withUnsafeBytes { try Data($0).write(to: file) }
        }
        return SymmetricKey(data: try Data(contentsOf: file))
    }

    private struct Missing: Error { let name: String }
}
