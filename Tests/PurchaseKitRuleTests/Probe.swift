import Crypto
import EvidenceMint
import Foundation
import PurchaseKit
import PurchaseMessages
import PurchaseVerification
import TestSupport

/// A device, its App Store and a purchase server in one process, with a clock that the test moves. The real server and
/// the simulator are in the tests of the package in Server/.
struct Probe: Sendable {
    let time = ProbeTime()
    let queue: ProbeQueue
    let server: ProbeServer
    let store = ProbeStore()
    let receipts = ProbeReceipts()

    static let bundleID = "com.example.app"
    /// One authority for all tests.
    static let authority = Result { try SignedPayloadAuthority() }

    init() throws {
        queue = ProbeQueue(time, try Self.authority.get())
        server = ProbeServer(time)
    }

    /// A run of the app.
    func engine(
        hasServer: Bool = true, environments: Set<AppStoreEnvironment> = [.production, .sandbox],
        offline: OfflineLimit = OfflineLimit(), lengths: [String: PurchasePeriod] = [:],
        token: PurchaseConnection.CustomerToken? = nil, startsAsGuest: Bool = false,
        store other: (any PurchaseStore)? = nil, queue otherQueue: (any PaymentQueue)? = nil
    ) throws -> PurchaseEngine {
        let anchor = try TrustAnchor(certificate: try Self.authority.get().root.certificate)
        return PurchaseEngine(
            queue: otherQueue ?? queue, receipts: receipts,
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: Self.bundleID, version: "1", environments: environments),
                device: ProbeDevice(), anchors: [anchor]),
            server: hasServer
                ? PurchaseConnection(
                    service: server, key: "key", answerKeys: try AnswerKeys(current: server.publicKey),
                    customerToken: token) : nil,
            store: other ?? store, time: time, offline: offline, lengths: lengths, startsAsGuest: startsAsGuest)
    }
}

/// A clock that the test moves. Waiting takes a few milliseconds, so that whoever waits looks again.
final class ProbeTime: PurchaseTime, Sendable {
    private let state = Locked((now: Date(timeIntervalSince1970: 1_800_000_000), uptime: 0.0))

    var now: Date { state.value.now }
    var uptime: Double { state.value.uptime }
    func sleep(seconds: Double) async throws { try await Task.sleep(nanoseconds: 2_000_000) }
    /// Sets the clock of the device, as its owner can.
    func set(days: Double) { state.change { $0.now += days * 86_400 } }
    /// Lets time pass.
    func pass(days: Double) { state.change { $0 = ($0.now + days * 86_400, $0.uptime + days * 86_400) } }
}

/// The App Store as a device sees it. It signs a transaction anew only when something about it changed.
final class ProbeQueue: PaymentQueue, Sendable {
    private let time: ProbeTime
    private let encoder: SignedPayloadEncoder
    /// What was sold, the newest last.
    let sold = Locked<[PaymentTransaction]>([])
    let finished = Locked<Set<String>>([])
    /// The transactions that StoreKit lists as current; `nil` for all of them that have not ended.
    let listed = Locked<[String]?>(nil)
    /// What the next purchases end with.
    let mode = Locked(Mode.normal)
    /// The payments that the customer was asked for.
    let asked = Locked<[PurchasePayment]>([])
    let environmentName = Locked<String?>("Production")
    /// How often the environment was asked for.
    let environmentReads = Locked(0)
    /// How often the customer was asked to sign in to the App Store for a restore.
    let restores = Locked(0)
    /// What a shop can show.
    let shop = Locked<[PurchaseProduct]>([])
    /// Whether the queue lists nothing, as that of the original API.
    let cannotList = Locked(false)
    /// What signs instead of the App Store.
    let signs = Locked<(@Sendable (SignedTransactionTemplate) throws -> String)?>(nil)
    private let listeners = Locked<[AsyncStream<PaymentTransaction>.Continuation]>([])
    private let statusListeners = Locked<[AsyncStream<Void>.Continuation]>([])

    enum Mode: Sendable {
        case normal, pending, queued, cancelled
        case fails(PurchaseError)
        /// The sheet is open.
        case asks
    }

    init(_ time: ProbeTime, _ authority: SignedPayloadAuthority) {
        self.time = time
        encoder = SignedPayloadEncoder(authority: authority)
    }

    func updates() -> AsyncStream<PaymentTransaction> {
        AsyncStream { made in listeners.change { $0.append(made) } }
    }
    func statusChanges() -> AsyncStream<Void> { AsyncStream { made in statusListeners.change { $0.append(made) } } }
    /// Whether an engine listens.
    var isHeard: Bool { !listeners.value.isEmpty }
    func send(_ transaction: PaymentTransaction) { for one in listeners.value { one.yield(transaction) } }
    func sendStatusChange() { for one in statusListeners.value { one.yield() } }

    func unfinished() async throws -> [PaymentTransaction] {
        sold.value.filter { !finished.value.contains($0.transactionID ?? "") }
    }

    func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
        asked.change { $0.append(payment) }
        while case .asks = mode.value { try await Task.sleep(nanoseconds: 1_000_000) }
        switch mode.value {
        case .normal, .asks:
            return .purchased(
                try sell(payment.productID, quantity: payment.quantity, token: payment.appAccountToken))
        case .pending: return .pending
        case .queued: return .queued
        case .cancelled: return .cancelled
        case .fails(let error): throw error
        }
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        _ = finished.change { $0.insert(transaction.transactionID ?? "") }
    }

    func restore() async throws -> [PaymentTransaction] {
        restores.change { $0 += 1 }
        while case .asks = mode.value { try await Task.sleep(nanoseconds: 1_000_000) }
        return sold.value.map { one in
            var restored = one
            restored.state = .restored
            return restored
        }
    }

    func current() async throws -> [PaymentTransaction]? {
        if cannotList.value { return nil }
        if let listed = listed.value { return sold.value.filter { listed.contains($0.transactionID ?? "") } }
        return sold.value.filter { one in
            one.revocationDate == nil && !one.productID.hasPrefix("coins")
                && one.expirationDate.map { $0 > time.now } ?? true
        }
    }

    func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] {
        productIDs.compactMap { id in sold.value.last { $0.productID == id } }
    }

    func appTransaction(refreshes: Bool) async -> String? { refreshes ? "new app transaction" : "app transaction" }

    func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
        shop.value.filter { productIDs.contains($0.productID) }
    }

    func environment() async -> String? {
        environmentReads.change { $0 += 1 }
        return environmentName.value
    }

    /// Sells a product, as it happens on another device. The kind follows from the name.
    @discardableResult
    func sell(
        _ productID: String, quantity: Int = 1, token: UUID? = nil, original: String? = nil, days: Double? = nil
    ) throws -> PaymentTransaction {
        let (now, id) = (time.now, "\(430_000_000_000_000 + sold.value.count + 1)")
        var purchase: PurchaseTemplate
        switch productID {
        case let name where name.hasPrefix("coins"):
            purchase = .consumable(productID: name, transactionID: id, purchaseDate: now, quantity: UInt64(quantity))
        case "pass": purchase = .nonRenewingSubscription(productID: productID, transactionID: id, purchaseDate: now)
        case "weekly", "monthly", "yearly":
            purchase = .subscription(
                productID: productID, transactionID: id, originalTransactionID: original, purchaseDate: now,
                expiresDate: now + (days ?? (productID == "yearly" ? 365 : productID == "monthly" ? 30 : 7)) * 86_400)
        default: purchase = .nonConsumable(productID: productID, transactionID: id, purchaseDate: now)
        }
        var template = SignedTransactionTemplate(
            purchase: purchase, bundleID: Probe.bundleID, environment: environmentName.value ?? "Production",
            signedDate: now, deviceID: MintedWorld.device)
        template.appAccountToken = token?.uuidString.lowercased()
        let transaction = PaymentTransaction(
            transactionID: id, originalTransactionID: original ?? id, productID: productID,
            // As StoreKit says it only of Xcode's.
            kind: signs.value == nil ? nil : purchase.productType == .consumable ? .consumable : .nonConsumable,
            quantity: quantity,
            environment: environmentName.value, appAccountToken: token,
            signedTransaction: try signs.value?(template) ?? encoder.encode(template), purchaseDate: now,
            expirationDate: purchase.expiresDate)
        sold.change { $0.append(transaction) }
        return transaction
    }

    /// Refunds a transaction, whose signature is new.
    func refund(_ transaction: PaymentTransaction) throws -> PaymentTransaction {
        let purchase = PurchaseTemplate.subscription(
            productID: transaction.productID, transactionID: transaction.transactionID ?? "",
            purchaseDate: transaction.purchaseDate ?? time.now, expiresDate: transaction.expirationDate ?? time.now)
        var template = SignedTransactionTemplate(
            purchase: purchase, bundleID: Probe.bundleID, environment: "Production", signedDate: time.now,
            deviceID: MintedWorld.device)
        template.revocationDate = time.now
        var refunded = transaction
        (refunded.revocationDate, refunded.signedTransaction) = (time.now, try encoder.encode(template))
        let new = refunded
        sold.change { all in all = all.map { $0.transactionID == new.transactionID ? new : $0 } }
        return new
    }
}

/// A purchase server that believes what it is sent, gives a purchase to the first who claims it, and signs its answers.
final class ProbeServer: PurchaseService, Sendable {
    private let time: ProbeTime
    private let key = Curve25519.Signing.PrivateKey()
    /// The owners of transactions.
    let owners = Locked<[String: String]>([:])
    /// The customers into whom others were merged.
    private let survivors = Locked<[String: String]>([:])
    /// What was sold, by its original, the newest.
    private let known = Locked<[String: Bought]>([:])
    /// What support gave to customers.
    let grants = Locked<[String: [EntitlementMessage]]>([:])
    /// The named entitlements that products give.
    let gives = Locked<[String: [String]]>([:])
    /// What the server decides about offers.
    let offers = Locked<[CustomerOffers.Offer]>([])
    /// Whether a restore that the customer asked for takes over from guests.
    let takesOver = Locked(false)
    /// Whether a claim needs a token that the server knows.
    let needsToken = Locked(false)
    /// What is done to an account before it is signed.
    let changesAccount = Locked<(@Sendable (inout EntitlementList) -> Void)?>(nil)
    /// Whether somebody else signs.
    let isForged = Locked(false)
    /// The merges that the app's backend asked for, and whether the server knew the guest.
    let merges = Locked<[Bool]>([])
    /// What the device sent.
    let sent = Locked<[ServiceRequest]>([])
    /// Whether a request waits for its answer until this ends.
    let isSlow = Locked(false)
    /// Whether a request waits for an answer until this ends, and then gets none.
    let isDead = Locked(false)
    /// Whether a request fails at once.
    let isCut = Locked(false)

    init(_ time: ProbeTime) { self.time = time }

    /// The restores that a customer asked for.
    func requested() throws -> [RestoreRequest] {
        try sent.value.filter { $0.path == "/v1/restores" }.map {
            try JSONDecoder().decode(RestoreRequest.self, from: Data($0.body))
        }.filter { $0.requested == true }
    }

    /// Merges a customer into another, as the app's backend asks for it, and names the survivor. One that is unknown is
    /// not merged, and one that was merged is not merged again.
    func merge(_ guestID: String, into customerID: String) -> String {
        if let survivor = survivors.value[guestID], survivor != customerID { return survivor }
        let isKnown = owners.change { owners in
            defer { owners = owners.mapValues { $0 == guestID ? customerID : $0 } }
            return owners.values.contains(guestID)
        }
        if isKnown { survivors.change { $0[guestID] = customerID } }
        merges.change { $0.append(isKnown) }
        return customerID
    }

    var publicKey: String { key.publicKey.rawRepresentation.base64EncodedString() }

    func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        sent.change { $0.append(request) }
        if isCut.value { throw PurchaseError(.connectionFailed) }
        while isSlow.value { try await Task.sleep(nanoseconds: 1_000_000) }
        if isDead.value {
            while isDead.value { try await Task.sleep(nanoseconds: 1_000_000) }
            throw PurchaseError(.connectionFailed)
        }
        let body = Data(request.body)
        if request.path.hasPrefix("/v1/me/") {
            let name = request.headers[EntitlementList.customerHeader.lowercased()] ?? ""
            guard request.method == "GET", name.hasPrefix("guest-") || name.hasPrefix("token-") else {
                throw PurchaseError(.customerUnknown)
            }
            let id = name.hasPrefix("token-") ? String(name.dropFirst(6)) : name
            guard request.path == "/v1/me/offers" else { return try sign(account(id), request) }
            return try sign(CustomerOffers(customerID: id, mergedInto: nil, offers: offers.value), request)
        }
        if request.path == "/v1/purchases" {
            let asked = try JSONDecoder().decode(PurchaseRequest.self, from: body)
            let bought = try Bought(asked.signedTransaction ?? "")
            if needsToken.value {
                let problem = ProblemDocument(
                    title: "Unprocessable", status: 422, code: "account_token_needed", disposition: .retry)
                return try sign(problem, request, status: 422)
            }
            guard own(bought, asked.customerID ?? "") else {
                let problem = ProblemDocument(
                    title: "Conflict", status: 409, code: "already_claimed", disposition: .refused)
                return try sign(problem, request, status: 409)
            }
            var answer = PurchaseAnswer(
                verdict: .accepted, code: "accepted", disposition: .granted, replayed: false, submissionID: "1",
                leafHash: "", transaction: bought.message(of: asked.customerID),
                entitlement: entitlement(bought))
            if asked.account == true { answer.account = account(asked.customerID ?? "") }
            return try sign(answer, request)
        }
        let asked = try JSONDecoder().decode(RestoreRequest.self, from: body)
        let takesOver = takesOver.value && asked.requested == true
        let all = (asked.signedTransactions ?? []).compactMap { try? Bought($0) }
        let purchases = all.map { one in
            if takesOver, asked.appTransaction == "new app transaction" { takeOver(one, asked.customerID) }
            let isOwn = own(one, asked.customerID)
            return RestoredPurchaseMessage(
                transactionID: one.transactionId, originalTransactionID: one.originalTransactionId,
                productID: one.productId, environment: EnvironmentName(rawValue: one.environment),
                expiresAt: one.expires.map { $0.formatted(.iso8601) }, code: isOwn ? "accepted" : "already_claimed",
                disposition: isOwn ? .granted : .refused, replayed: false, submissionID: "1")
        }
        var entitlements: [EntitlementMessage] = []
        for one in all where owners.value[one.originalTransactionId] == asked.customerID {
            let message = entitlement(one)
            entitlements.removeAll { $0.productID == message.productID && message.state == .active }
            if !entitlements.contains(where: { $0.productID == message.productID }) { entitlements.append(message) }
        }
        var answer = RestoreAnswer(
            customerID: asked.customerID, purchases: purchases, refused: [], entitlements: entitlements)
        let isOwner = purchases.contains { $0.disposition == .granted }
        if takesOver, purchases.contains(where: { $0.disposition == .refused }) { answer.needsAppTransaction = true }
        if asked.account == true, isOwner || asked.guest == true { answer.account = account(asked.customerID) }
        return try sign(answer, request)
    }

    /// All that a customer has.
    private func account(_ customerID: String) -> EntitlementList {
        let owned = known.value.filter { owners.value[$0.key] == survivors.value[customerID] ?? customerID }
        let all = owned.values.map { entitlement($0) } + (grants.value[customerID] ?? [])
        let active = Set(all.filter { $0.state == .active }.map(\.productID))
        let names = Set(active.flatMap { gives.value[$0] ?? [] })
        var list = EntitlementList(
            customerID: customerID, entitlements: all,
            named: names.sorted().map { name in
                NamedEntitlementMessage(
                    name: name, state: .active, products: active.filter { gives.value[$0]?.contains(name) ?? false })
            })
        changesAccount.value?(&list)
        return list
    }

    private func takeOver(_ bought: Bought, _ customerID: String) {
        owners.change { owners in
            if owners[bought.originalTransactionId]?.hasPrefix("guest-") ?? false {
                owners[bought.originalTransactionId] = customerID
            }
        }
    }

    private func own(_ bought: Bought, _ customerID: String) -> Bool {
        let owner = survivors.value[customerID] ?? customerID
        known.change { $0[bought.originalTransactionId] = bought }
        return owners.change { owners in
            owners[bought.originalTransactionId] = owners[bought.originalTransactionId] ?? owner
            return owners[bought.originalTransactionId] == owner
        }
    }

    private func entitlement(_ bought: Bought) -> EntitlementMessage {
        let isActive = bought.revocationDate == nil && bought.expires.map { $0 > time.now } ?? true
        return EntitlementMessage(
            productID: bought.productId, productType: ProductType(rawValue: "x"),
            environment: EnvironmentName(rawValue: bought.environment), state: isActive ? .active : .expired,
            balance: bought.productId.hasPrefix("coins") ? Int64(bought.quantity ?? 1) : nil,
            until: bought.expires.map { $0.formatted(.iso8601) }, transactionID: bought.transactionId)
    }

    private func sign(
        _ answer: some Encodable, _ request: ServiceRequest, status: Int = 200
    ) throws -> ServiceAnswer {
        let body = [UInt8](try JSONEncoder().encode(answer))
        guard let wanted = AnswerSignature.Wanted(acceptSignature: request.headers["accept-signature"] ?? "") else {
            throw PurchaseError(.answerUnsigned)
        }
        let id = SHA256.hash(data: key.publicKey.rawRepresentation).prefix(8).map { String(format: "%02x", $0) }
        let signature = AnswerSignature(
            label: wanted.label, created: Int64(time.now.timeIntervalSince1970), keyID: id.joined(),
            nonce: wanted.nonce)
        let digest = ContentDigest.text(sha256: Array(SHA256.hash(data: body)))
        let message = AnswerSignature.Message(
            status: status, contentType: "application/json", contentDigest: digest, method: request.method,
            path: request.path,
            requestDigest: request.headers["content-digest"] ?? "")
        let signer = isForged.value ? Curve25519.Signing.PrivateKey() : key
        let signed = try signer.signature(for: signature.base(of: message))
        return ServiceAnswer(
            status: status,
            headers: [
                "content-type": "application/json", "signature-input": signature.input,
                "signature": signature.field(signature: Array(signed)),
            ], body: body)
    }

    /// The claims of a signed transaction.
    private struct Bought: Decodable {
        let transactionId: String
        let originalTransactionId: String
        let productId: String
        let environment: String
        let quantity: Int?
        let expiresDate: Double?
        let revocationDate: Double?

        init(_ jws: String) throws {
            let part = jws.split(separator: ".").dropFirst().first ?? ""
            let text = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data()
            self = try JSONDecoder().decode(Bought.self, from: data)
        }

        var expires: Date? { expiresDate.map { Date(timeIntervalSince1970: $0 / 1000) } }

        func message(of customerID: String?) -> TransactionMessage {
            TransactionMessage(
                transactionID: transactionId, originalTransactionID: originalTransactionId, productID: productId,
                environment: EnvironmentName(rawValue: environment), customerID: customerID)
        }
    }
}

/// A store in memory that counts what is written.
final class ProbeStore: PurchaseStore, Sendable {
    let document = Locked<[UInt8]?>(nil)
    /// The sizes of the documents that were written.
    let writes = Locked<[Int]>([])
    let isSetAside = Locked(false)
    /// Whether nothing can be written.
    let isFull = Locked(false)
    private let kept = Locked<[String: [UInt8]]>([:])

    /// The store of a new phone, to which only the guest moved.
    func moved() throws -> ProbeStore {
        let other = ProbeStore()
        try other.keepGuest(try guest())
        return other
    }

    /// The store as it is now, for a process that ends here.
    func copy() -> ProbeStore {
        let other = ProbeStore()
        other.document.change { $0 = document.value }
        other.kept.change { $0 = kept.value }
        return other
    }

    func read() throws -> [UInt8]? { document.value }
    func write(_ new: [UInt8]) throws {
        if isFull.value { throw PurchaseError(.storeFailed) }
        document.change { $0 = new }
        writes.change { $0.append(new.count) }
    }
    func setAside() throws { isSetAside.change { $0 = true } }
    func evidence(_ name: String) throws -> [UInt8]? { kept.value[name] }
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws { kept.change { $0[name] = evidence } }
    func removeEvidence(_ name: String) throws { kept.change { $0[name] = nil } }
}

/// No receipt, and how often one was asked for.
final class ProbeReceipts: ReceiptSource, Sendable {
    let refreshes = Locked(0)

    func load() async throws -> [UInt8]? { nil }
    func refresh() async throws { refreshes.change { $0 += 1 } }
}

struct ProbeDevice: DeviceIdentity {
    private static let identifier = DeviceIdentifier(identifierForVendor: MintedWorld.device)

    func receiptIdentifiers() async -> [DeviceIdentifier] { [Self.identifier] }
    func deviceVerificationID() async -> DeviceIdentifier? { Self.identifier }
}

/// A value behind a lock.
///
/// Unchecked, because the lock guards the value.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    @discardableResult
    func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&stored)
    }
}

extension PurchaseEngine {
    /// The products that the customer may use now.
    func active() throws -> [String] { try entitlements().filter(\.isActive).map(\.productID) }
}

extension PurchaseEngine {
    /// Whether a screen may believe what it is shown now.
    func isLoadedNow() async -> Bool {
        for await shown in shownUpdates() { return shown.isLoaded }
        return false
    }

    /// The names of the events of some work.
    func events(of work: () async throws -> Void) async throws -> [String] {
        let events = self.events()
        try await work()
        promote("end")
        var names: [String] = []
        for await event in events {
            if event.name == "promoted" { break }
            names.append(event.name)
        }
        return names
    }
}

/// Waits until something holds. A test that waits for nothing ends by its time limit.
func wait(isolation: isolated (any Actor)? = #isolation, _ holds: () async throws -> Bool) async throws {
    while try await !holds() { try await Task.sleep(nanoseconds: 1_000_000) }
}
