import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import Testing

/// A real process (`Tests/KitApp`) that is killed before or after each of its external calls, and started again.
@Suite("A killed process")
struct KilledProcessTests {
    /// The steps of the process until it is killed.
    struct Work: Sendable, CustomTestStringConvertible {
        let name: String
        let proof: String
        let command: String
        /// Fewer steps would mean that the process ended before it finished its work.
        let leastSteps: Int
        var hasOrder = false
        var receiptLags = false

        var testDescription: String { name }
    }

    static let works = [
        Work(name: "a purchase with an order", proof: "jws", command: "buy", leastSteps: 12, hasOrder: true),
        Work(
            name: "a purchase whose receipt is refreshed", proof: "receipt", command: "buy", leastSteps: 15,
            receiptLags: true),
        Work(name: "a restore", proof: "jws", command: "restore", leastSteps: 8),
    ]

    @Test(
        "Killed at any step, it loses no purchase and grants none twice, and the transaction is finished",
        arguments: works)
    func killed(_ work: Work) async throws {
        try await KitWorld.run { world in
            var steps = 0
            for step in 1...200 {
                let device = try await world.device(isSigned: work.proof == "jws")
                if work.receiptLags { try await device.mode("normal", receiptLags: true) }
                let isRestore = work.command == "restore"
                if isRestore { _ = try await device.sell("pro") }
                let order = work.hasOrder ? try await world.order("coins", for: device.customer).orderID : nil
                let folder = world.folder.appending(path: device.customer)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                func run(_ step: Int, _ command: String) async throws -> KitProcess.Result {
                    try await KitProcess.run(device, in: folder, step: step, proof: work.proof, order: order, command)
                }
                let first = try await run(step, work.command)
                let wasSold = try await !device.simulated.history().isEmpty
                let second = try await run(0, "resume")
                #expect(second.status == 0, "step \(step): \(second.output)")
                let history = try await device.simulated.history()
                // A restore makes a copy of the purchase.
                #expect(history.count == (wasSold ? 1 : 0) || isRestore, "step \(step)")
                #expect(!history.contains { !$0.isFinished }, "step \(step)")
                let entitlements = try await world.entitlements(of: device.customer)
                #expect(entitlements.count == (wasSold ? 1 : 0), "step \(step)")
                if !isRestore { #expect(try await device.coins() == (wasSold ? 1 : 0), "step \(step)") }
                if let order {
                    #expect(
                        try await world.order(order).status.rawValue == (wasSold ? "paid" : "created"), "step \(step)")
                }
                let granted = wasSold ? (isRestore ? history.count : 1) : 0
                #expect(
                    second.output.contains("granted \(granted) waiting 0"), "step \(step): \(second.output)")
                guard first.status != 0 else { break }
                #expect(first.status == 9, "step \(step): \(first.output)")
                steps = step
            }
            #expect((work.leastSteps..<200).contains(steps), "\(steps) steps")
        }
    }
}
