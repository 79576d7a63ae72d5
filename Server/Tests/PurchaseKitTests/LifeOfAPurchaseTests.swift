import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import TestSupport
import Testing

/// One life of purchases, through each way to use the kit: what the screen shows at each step.
@Suite("The life of a purchase")
struct LifeOfAPurchaseTests {
    enum Way: CaseIterable {
        /// The original API: receipts, the delegate, a server.
        case delegate
        case storeKit2
        /// StoreKit 2 without a server.
        case alone
    }

    @Test("1 The screen shows what docs/transcripts.md says, in each of three ways", .timeLimit(.minutes(10)))
    func table() async throws {
        var columns: [[(step: String, shown: String)]] = []
        for way in Way.allCases {
            let (rows, told) = try await Self.live(way)
            columns.append(rows)
            #expect(told == Self.told, "\(way)")
        }
        let rows = columns[0].indices.map { index in
            "| \(index + 1) | \(columns[0][index].step) | "
                + columns.map { $0[index].shown }.joined(separator: " | ") + " |"
        }
        let written = try Self.section().filter { $0.first == "|" && $0.dropFirst(2).first?.isNumber ?? false }
        #expect(written == rows, "the table is:\n\(rows.joined(separator: "\n"))")
    }

    @Test("Each row of the second table names tests that exist")
    func named() throws {
        let folder = Corpus.projectFolder
        let rows = try Self.section().filter { $0.hasPrefix("|") && $0.contains("Tests.") }
        #expect(rows.count == 9)
        for name in rows.flatMap({ $0.split(separator: "`").filter { $0.contains("Tests.") } }) {
            let parts = name.split(separator: ".")
            let texts = ["Server/Tests/PurchaseKitTests", "Tests/PurchaseKitRuleTests"].compactMap {
                try? String(contentsOf: folder.appending(path: "\($0)/\(parts[0]).swift"), encoding: .utf8)
            }
            #expect(texts.contains { $0.contains("func \(parts[1])(") }, "\(name)")
        }
    }

    /// The lines of the section in docs/transcripts.md.
    private static func section() throws -> [String] {
        let page = try String(
            contentsOf: Corpus.projectFolder.appending(path: "docs/transcripts.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("The life of a purchase\n") })
        return section.split(separator: "\n").map(String.init)
    }

    /// What the delegate is told in each way, by the number of the step: each payment once as valid, and the refund as
    /// invalid. A second device, a reinstallation and a wrong clock bring no purchase.
    private static let told = ["1 true", "2 true", "3 true", "4 true", "7 true", "8 false", "11 true"]

    /// Lives it, and returns each step with what the screen shows after it, and what the delegate was told.
    private static func live(_ way: Way) async throws -> (rows: [(step: String, shown: String)], told: [String]) {
        let told = Mutex<[String]>([])
        let rows = Mutex<[(step: String, shown: String)]>([])
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: way != .delegate)
            let delegate = Witness()
            func launch(_ store: (any PurchaseStore)? = nil) async throws -> PurchaseEngine {
                // The system writes the receipt anew when a renewal or a refund arrives.
                if way == .delegate { try await device.simulated.refresh() }
                let engine = try await device.engine(hasServer: way != .alone, store: store)
                await engine.setDelegate(delegate)
                await engine.start()
                return engine
            }
            func show(_ step: String, _ engine: PurchaseEngine) async throws {
                let active = try await engine.active()
                let number = rows.withLock { rows in
                    rows.append((step, active.isEmpty ? "–" : active.joined(separator: ", ")))
                    return rows.count
                }
                let new = delegate.seen.withLock { seen in
                    defer { seen = [] }
                    return seen
                }
                told.withLock { $0 += new.map { "\(number) \($0)" } }
            }
            var engine = try await launch()
            await engine.buy("monthly")
            try await show("buys a monthly subscription", engine)
            let original = try #require(try await device.lastTransaction())
            for times in ["once", "twice", "three times"] {
                try await world.pass(days: 31, device)
                engine = try await launch()
                try await show("it renews \(times)", engine)
            }
            try await show("launches the app on a second device", try await launch(device.otherStore))
            try device.store.setAside()
            engine = try await launch()
            try await show("deletes the app and installs it again", engine)
            await engine.buy("pro")
            try await show("buys \"pro\"", engine)
            let pro = try #require(try await device.lastTransaction())
            try await device.simulated.control("transactions/\(pro)/refund")
            try await world.pass(days: 0.1, device)
            if way == .delegate { try await device.simulated.refresh() }
            await engine.handle(try await device.simulated.stored(pro))
            try await show("\"pro\" is refunded", engine)
            try await device.simulated.control("subscriptions/\(original)/billing", ["works": false])
            try await world.pass(days: 31, device)
            engine = try await launch()
            try await show("a payment fails: grace period", engine)
            try await world.pass(days: 14, device)
            engine = try await launch()
            try await show("the grace period ends", engine)
            try await device.simulated.control("subscriptions/\(original)/recover")
            try await world.pass(days: 0.1, device)
            engine = try await launch()
            try await show("the payment succeeds", engine)
            device.link.isCut(true)
            try await world.pass(days: 21, device)
            engine = try await launch()
            try await show("is offline for three weeks", engine)
            device.time.set(3 * 366 * 86_400)
            engine = try await launch()
            try await show("the clock is three years ahead, offline", engine)
            device.time.set(-3 * 366 * 86_400)
            device.link.isCut(false)
            try await world.pass(days: 0.1, device)
            engine = try await launch()
            try await show("the clock is right again, online", engine)
            await engine.signIn(PurchaseCustomer(id: "bob-of-\(device.customer)"))
            try await show("another customer signs in", engine)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            try await show("the first customer signs in again", engine)
            #expect(try await device.unfinished() == 0)
        }
        return (rows.withLock { $0 }, told.withLock { $0 })
    }
}
