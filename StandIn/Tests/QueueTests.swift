import Foundation
import PurchaseKit
import PurchaseVerification
import StoreKit
import Testing

@testable import StoreKitAdapters

extension StoreKitAdapterTests {
    /// The two queues alone, against the stand-in.
    @Suite("The queues alone")
    struct QueueTests {
        static let offers: [PaymentOffer] = [
            .promotional(
                id: "half", keyID: "K1", nonce: UUID(), signature: Data([1, 2, 3]), timestamp: 1_700_000_000_000),
            .promotionalJWS(id: "half", compactJWS: "a.b.c"),
            .introductory(compactJWS: "d.e.f"),
            .winBack(id: "back"),
        ]

        @Test("6 The closure buys, with the product and every option of the payment")
        func closure() async throws {
            try await Simulator.run { _ in
                let token = UUID()
                for offer in Self.offers {
                    let asked = Asked()
                    let queue = StoreKit2Queue { _, options in
                        asked.add(options.map(\.standInText))
                        return .userCancelled
                    }
                    let payment = PurchasePayment(
                        productID: "monthly", appAccountToken: token, offer: offer, simulatesAskToBuyInSandbox: true)
                    let result = try await queue.buy(payment)
                    #expect(result == .cancelled)
                    let texts = asked.texts
                    #expect(
                        texts.contains("quantity 1") && texts.contains("appAccountToken \(token.uuidString)"),
                        "\(texts)")
                    #expect(texts.contains("simulatesAskToBuyInSandbox true"), "\(texts)")
                    switch offer {
                    case .promotional(let id, let keyID, let nonce, let signature, let timestamp):
                        let parts = [id, keyID, nonce.uuidString, signature.base64EncodedString(), "\(timestamp)"]
                        #expect(texts.contains("promotionalOffer \(parts.joined(separator: " "))"), "\(texts)")
                    case .promotionalJWS:
                        #expect(
                            texts.contains("promotionalOffer half") && texts.contains("compactJWS a.b.c"), "\(texts)")
                    case .introductory: #expect(texts.contains("introductoryOfferEligibility d.e.f"), "\(texts)")
                    case .winBack: #expect(texts.contains("winBackOffer back"), "\(texts)")
                    }
                }
            }
        }

        @Test("3 On a device without an identifier, an app transaction counts if StoreKit verified it")
        func appTransaction() async throws {
            try await Simulator.run { simulator in
                try await simulator.post("app/purchases", ["product_id": "pro"])
                let engine = try simulator.engine(StoreKit2Queue(), NoReceiptSource())
                let known = try #require(try await DeviceReceipt().appTransaction())
                #expect(known.isVerifiedByStoreKit)
                try await engine.verify(known)
                StandInDevice.forget()
                #expect(try await engine.verify(known).originalPurchaseDate != nil)
                let value = try await StoreKit.AppTransaction.shared.unsafePayloadValue
                let result = VerificationResult<StoreKit.AppTransaction>.unverified(value, .invalidSignature)
                let unverified = DeviceAppTransaction(result, signed: known.signed)
                #expect(!unverified.isVerifiedByStoreKit)
                await #expect(throws: PurchaseError.self) { try await engine.verify(unverified) }
            }
        }

        @Test("1 A refund whose transaction nobody delivered is found by both queues", arguments: [true, false])
        func missedRefund(isOriginal: Bool) async throws {
            try await Simulator.run { simulator in
                let queue: any PaymentQueue = isOriginal ? OriginalQueue() : StoreKit2Queue()
                #expect(try await queue.latest(["pro"]).isEmpty)
                let other = try simulator.engine(StoreKit2Queue(), NoReceiptSource())
                #expect(await other.buy("pro").isGranted)
                let bought = try #require(try await queue.latest(["nothing", "pro"]).first)
                #expect(bought.productID == "pro" && bought.revocationDate == nil)
                let engine = try simulator.engine(queue, NoReceiptSource())
                await engine.refreshEntitlements()
                #expect(try await engine.entitlements().map(\.isActive) == [true])
                let id = try #require(bought.transactionID)
                try await simulator.post("control/transactions/\(id)/refund", [:], isControl: true)
                await engine.refreshEntitlements()
                #expect(try await engine.entitlements().map(\.isActive) == [false])
            }
        }

        @Test("4 The closure that buys may call every function of the engine")
        func closureCalls() async throws {
            try await Simulator.run { simulator in
                let asked = Asked()
                let engines = AsyncStream<PurchaseEngine>.makeStream()
                let queue = StoreKit2Queue { product, options in
                    for await engine in engines.stream {
                        await engine.retryNow()
                        await engine.start()
                        await engine.refreshEntitlements()
                        asked.add([await engine.restore().error == nil ? "restored" : "not restored"])
                        break
                    }
                    return try await product.purchase(options: options)
                }
                let engine = try simulator.engine(queue, NoReceiptSource())
                engines.continuation.yield(engine)
                #expect(await engine.buy("pro").isGranted)
                #expect(asked.texts == ["restored"])
            }
        }

        @Test("6 A win-back offer that the product does not have ends the purchase before the customer is asked")
        func unknownOffer() async throws {
            try await Simulator.run { _ in
                let asked = Asked()
                let queue = StoreKit2Queue { product, options in
                    asked.add(["asked"])
                    return try await product.purchase(options: options)
                }
                for product in ["monthly", "pro"] {
                    await #expect(throws: PurchaseError.self) {
                        _ = try await queue.buy(PurchasePayment(productID: product, offer: .winBack(id: "other")))
                    }
                }
                #expect(asked.texts.isEmpty)
            }
        }

        @Test("13 Seats are Apple's option of the new total, and a billing plan is one of the product's")
        func seatsAndPlans() async throws {
            try await Simulator.run { _ in
                let asked = Asked()
                let queue = StoreKit2Queue { _, options in
                    asked.add(options.map(\.standInText))
                    return .userCancelled
                }
                _ = try await queue.buy(PurchasePayment(productID: "monthly", seats: 12, plan: .upFront))
                #expect(Set(asked.texts) == ["seats 12", "billingPlanType upFront"])
                for payment in [
                    PurchasePayment(productID: "monthly", plan: .monthly),
                    PurchasePayment(productID: "coins", plan: .upFront),
                ] {
                    await #expect(throws: PurchaseError.self) { _ = try await queue.buy(payment) }
                }
                for payment in [
                    PurchasePayment(productID: "monthly", seats: 2),
                    PurchasePayment(productID: "monthly", plan: .upFront),
                ] {
                    await #expect(throws: PurchaseError.self) { _ = try await OriginalQueue().buy(payment) }
                }
                #expect(asked.texts.count == 2)
            }
        }

        @Test("6 An option of a newer system reaches the closure")
        func moreOptions() async throws {
            try await Simulator.run { _ in
                let asked = Asked()
                let more: @Sendable (PurchasePayment) -> Set<Product.PurchaseOption> = { _ in
                    [.introductoryOfferEligibility(compactJWS: "x.y.z")]
                }
                let queue = StoreKit2Queue(moreOptions: more) { product, options in
                    asked.add(options.map(\.standInText))
                    return try await product.purchase(options: options)
                }
                _ = try await queue.buy(PurchasePayment(productID: "coins", quantity: 3))
                #expect(Set(asked.texts) == ["quantity 3", "introductoryOfferEligibility x.y.z"])
            }
        }

        @Test("6 A purchase intent carries its offer to the app, and from there to the closure that buys")
        func intent() async throws {
            try await Simulator.run { simulator in
                let asked = Asked()
                let queue = StoreKit2Queue { _, options in
                    asked.add(options.map(\.standInText))
                    return .userCancelled
                }
                let engine = try simulator.engine(queue, NoReceiptSource())
                let events = await engine.events()
                let follow = Task { await engine.followPurchaseIntents() }
                defer { follow.cancel() }
                PurchaseIntent.choose(try await PurchaseIntent.standIn("monthly", winBack: "back"))
                PurchaseIntent.choose(try await PurchaseIntent.standIn("pro", winBack: "back"))
                var promoted: [(product: String, offer: PaymentOffer?)] = []
                for await event in events {
                    guard case .promoted(let product, let offer) = event else { continue }
                    promoted.append((product, offer))
                    if promoted.count == 2 { break }
                }
                #expect(promoted.map(\.product) == ["monthly", "pro"])
                #expect(promoted.map(\.offer) == [.winBack(id: "back"), nil])
                let first = try #require(promoted.first)
                _ = await engine.buy(first.product, offer: first.offer)
                #expect(asked.texts.contains("winBackOffer back"), "\(asked.texts)")
            }
        }

        @Test("6 The original API pays with a discount, and refuses an offer that it does not have")
        func discount() async throws {
            try await Simulator.run { _ in
                let queue = OriginalQueue()
                _ = try await queue.buy(PurchasePayment(productID: "monthly", offer: Self.offers[0]))
                #expect(SKPaymentQueue.default().standInDiscount == "half")
                for offer in Self.offers.dropFirst() {
                    await #expect(throws: PurchaseError.self) {
                        _ = try await queue.buy(PurchasePayment(productID: "monthly", offer: offer))
                    }
                }
            }
        }

        @Test(
            "11 The order of a Mac's addresses: built-in en0, built-in en1, en0 that is not built in, other built-in ones"
        )
        func addresses() {
            func interface(_ name: String, _ isBuiltIn: Bool, _ byte: UInt8) -> NetworkInterface {
                NetworkInterface(name: name, isBuiltIn: isBuiltIn, address: [byte])
            }
            let all = [
                interface("en0", true, 1), interface("en1", true, 2), interface("en0", false, 3),
                interface("en5", true, 4),
                interface("en6", false, 5),
            ]
            // Every order in which the system lists them, and every Mac that has some of them.
            for present in 0..<32 {
                let some = all.indices.filter { present >> $0 & 1 == 1 }.map { all[$0] }
                for shift in 0..<max(some.count, 1) {
                    let listed = Array(some[shift...] + some[..<shift]).reversed()
                    let found = NetworkInterface.likeliestFirst(Array(listed)).map(\.address[0])
                    #expect(found == some.map(\.address[0]).filter { $0 != 5 })
                }
            }
        }

        @Test("11 A refresh replaces the receipt's file, and a new app transaction does not")
        func refresh() async throws {
            try await Simulator.run { simulator in
                let file = simulator.folder.appendingPathComponent("receipt")
                try await simulator.post("app/purchases", ["product_id": "pro"])
                let receipt = DeviceReceipt(file: file)
                #expect(try await receipt.appTransaction(refreshes: true) != nil)
                #expect(try await receipt.load() == nil)
                try await receipt.refresh()
                #expect(try await receipt.load() != nil)
            }
        }

        @Test("12 The queue removes itself from StoreKit's when the app lets it go")
        func removal() async throws {
            try await Simulator.run { _ in
                let before = SKPaymentQueue.default().standInObservers
                do {
                    let queue = OriginalQueue()
                    #expect(SKPaymentQueue.default().standInObservers == before + 1)
                    _ = try await queue.unfinished()
                }
                #expect(SKPaymentQueue.default().standInObservers == before)
            }
        }

        @Test("12 Transactions are finished by StoreKit's own values, without a copy of the whole queue")
        func finish() async throws {
            try await Simulator.run { simulator in
                let queue = OriginalQueue()
                for _ in 0..<20 { try await simulator.post("app/purchases", ["product_id": "coins"]) }
                // Another queue of the app, whose observer brings what the store has.
                let second = OriginalQueue()
                var transactions: [PaymentTransaction] = []
                while transactions.count < 20 { transactions = try await second.unfinished() }
                let reads = SKPaymentQueue.default().standInReads
                for transaction in transactions { try await second.finish(transaction) }
                #expect(SKPaymentQueue.default().standInReads == reads)
                #expect(try await second.unfinished().isEmpty)
                _ = queue
            }
        }

        @Test("12 A refund reaches an app with the original API, with its proof")
        func refund() async throws {
            try await Simulator.run { simulator in
                try await simulator.post("app/purchases", ["product_id": "pro"])
                let queue = OriginalQueue()
                let bought = try #require(try await queue.current()?.first)
                let updates = queue.updates()
                let id = try #require(bought.transactionID)
                let refund = Task {
                    // The queue must have begun to listen.
                    try await Task.sleep(nanoseconds: 1_500_000_000)
                    try await simulator.post("control/transactions/\(id)/refund", [:], isControl: true)
                }
                for await transaction in updates where transaction.revocationDate != nil {
                    #expect(transaction.transactionID == id && transaction.signedTransaction != nil)
                    try await queue.finish(transaction)
                    break
                }
                try await refund.value
                #expect(try await queue.current()?.isEmpty == true)
            }
        }

        @Test("12 The version is read from the bundle, and the bundle id is not")
        func version() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bundle")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer {
                // A folder that stays behind in the temporary folder harms nothing.
                try? FileManager.default.removeItem(at: folder)
            }
            let list = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.other</string>
                <key>CFBundleVersion</key><string>77</string></dict></plist>
                """
            try Data(list.utf8).write(to: folder.appendingPathComponent("Info.plist"))
            let bundle = try #require(Bundle(url: folder))
            let identity = AppIdentity(bundleID: "com.example.app", bundle: bundle)
            #expect(identity.version == "77" && identity.bundleID == "com.example.app")
        }

        @Test("1 The current transactions come without a restore, a subscription with its renewal info")
        func current() async throws {
            try await Simulator.run { simulator in
                for product in ["coins", "pro", "monthly"] {
                    try await simulator.post("app/purchases", ["product_id": product])
                }
                let queues: [any PaymentQueue] = [StoreKit2Queue(), OriginalQueue()]
                for queue in queues {
                    let current = try #require(try await queue.current())
                    #expect(Set(current.map(\.productID)) == ["pro", "monthly"])
                    #expect(current.allSatisfy { ($0.signedRenewalInfo != nil) == ($0.productID == "monthly") })
                }
                #expect(try await OriginalQueue(prefersSignedTransactions: false).current() == nil)
            }
        }

        @Test("3 Products have one type in both APIs, with price text, period and offers with eligibility")
        func products() async throws {
            try await Simulator.run { simulator in
                var offers: [[String: Any]] = []
                for (id, kind) in [("trial", "introductory"), ("half", "promotional"), ("back", "win-back")] {
                    offers.append(["offer_id": id, "kind": kind, "mode": "FREE_TRIAL", "period": "P1W", "price": 0])
                }
                try await simulator.post(
                    "control/products",
                    [
                        "bundle_id": "com.example.app", "product_id": "yearly", "kind": "auto-renewable",
                        "price": 59_990, "subscription": ["group_id": "club", "period": "P1Y", "offers": offers],
                    ], isControl: true)
                var lists: [[PurchaseProduct]] = []
                let queues: [any PaymentQueue] = [StoreKit2Queue(), OriginalQueue()]
                for queue in queues {
                    // In the order of the ids, without what is not sold.
                    let list = try await queue.products(["yearly", "nothing", "coins", "pro"])
                    #expect(list.map(\.productID) == ["yearly", "coins", "pro"])
                    #expect(list.map(\.kind) == [.autoRenewableSubscription, .consumable, .nonConsumable])
                    let yearly = try #require(list.first)
                    #expect(yearly.period == PurchasePeriod(1, .year) && yearly.subscriptionGroupID == "club")
                    #expect(yearly.price == Decimal(string: "59.99") && yearly.priceText.contains("59.99"))
                    let plan = try #require(yearly.plans.first)
                    #expect(yearly.plans.count == 1 && plan.plan == .upFront && plan.price == yearly.price)
                    #expect(plan.commitmentPrice == yearly.price && plan.commitmentPriceText == yearly.priceText)
                    #expect(yearly.offers.map(\.kind) == [.introductory, .promotional, .winBack])
                    #expect(yearly.offers.map(\.offerID) == [nil, "half", "back"])
                    #expect(
                        yearly.offers.allSatisfy { $0.payment == .freeTrial && $0.period == PurchasePeriod(1, .week) })
                    // What the system knows of this customer; of a promotional offer, only the server decides.
                    #expect(yearly.offers.map { $0.isEligible == nil } == [false, true, false])
                    #expect(list.dropFirst().allSatisfy { $0.period == nil && $0.offers.isEmpty })
                    lists.append(list)
                }
                #expect(lists[0] == lists[1])
            }
        }

        @Test("7 The environment is the app transaction's, and the receipt's name says it where there is none")
        func environment() async throws {
            try await Simulator.run { simulator in
                try await simulator.post("app/purchases", ["product_id": "pro"])
                #expect(await StoreKit2Queue().environment() == "Production")
            }
            #expect(AppEnvironment.name(ofReceipt: "sandboxReceipt") == "Sandbox")
            #expect(AppEnvironment.name(ofReceipt: "receipt") == "Production")
            #expect(AppEnvironment.name(ofReceipt: nil) == nil)
        }

        @Test("7 An app transaction that does not come is not waited for", .timeLimit(.minutes(10)))
        func lateEnvironment() async throws {
            let sandbox = URL(fileURLWithPath: "/receipts/sandboxReceipt")
            let inTime = await AppEnvironment.name(receipt: sandbox, within: 30) { "Production" }
            #expect(inTime == "Production")
            let failed = await AppEnvironment.name(receipt: sandbox, within: 30) { throw StoreKitError.unknown }
            #expect(failed == "Sandbox")
            // It does not react to cancellation, either.
            let late = await AppEnvironment.name(receipt: sandbox, within: 0.05) {
                await withUnsafeContinuation { (_: UnsafeContinuation<String, Never>) in }
            }
            #expect(late == "Sandbox")
        }

        @Test("6 A cancellation that StoreKit throws is a cancellation, and another error is not")
        func thrownCancellation() async throws {
            try await Simulator.run { _ in
                let payment = PurchasePayment(productID: "pro")
                let cancelling = StoreKit2Queue { _, _ in throw StoreKitError.userCancelled }
                let result = try await cancelling.buy(payment)
                #expect(result == .cancelled)
                let failing = StoreKit2Queue { _, _ in throw StoreKitError.notEntitled }
                await #expect(throws: StoreKitError.self) { try await failing.buy(payment) }
                AppStore.standInRefusal = .userCancelled
                defer { AppStore.standInRefusal = nil }
                let refused = await #expect(throws: PurchaseError.self) { try await failing.restore() }
                #expect(refused?.code == .paymentCancelled)
            }
        }
    }
}

/// What a closure was asked for.
private final class Asked: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [String] = []

    var texts: [String] { lock.withLock { all } }

    func add(_ texts: [String]) { lock.withLock { all += texts } }
}
