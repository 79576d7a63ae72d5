import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseServer
import TestSupport
import Testing

@Suite("The example app")
struct ExampleAppTests {
    @Test("It sells, restores and survives a restart, in fewer than 60 lines")
    @MainActor
    func sells() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let first = try await Self.app(device)
            await first.launch(customer: device.customer)
            await first.buy("coins")
            await first.buy("pro")
            #expect(await first.messages == ["Thank you!", "Thank you!"])
            #expect(await first.coins == 1)
            #expect(await first.isPro)
            await first.quit()
            let second = try await Self.app(device)
            await second.launch(customer: device.customer)
            #expect(await second.coins == 1)
            await second.restore()
            #expect(await second.messages == ["Restored: 1"])
            await second.quit()
        }
        let file = Corpus.projectFolder.appending(path: "Server/Tests/PurchaseKitTests/ExampleApp.swift")
        #expect(try String(contentsOf: file, encoding: .utf8).split { $0 == "\n" }.count < 60)
    }

    @MainActor
    private static func app(_ device: KitDevice) throws -> ExampleApp {
        ExampleApp(
            queue: device.queue, receipts: device.receipts,
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: KitWorld.bundleID, version: "1.0"), device: device.simulated,
                anchors: try KitWorld.anchors()),
            server: PurchaseConnection(
                service: device.link, key: device.world.clientKey,
                answerKeys: try AnswerKeys(current: device.world.signer.publicKey)),
            store: device.store)
    }
}
