import EvidenceMint
import Foundation
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// A ledger whose events are delivered to a receiver.
struct WebhookWorld: Sendable {
    let database: any LedgerDatabase
    let ledger: PurchaseLedger
    let clock: TestClock
    private let openDatabase: @Sendable () throws -> any LedgerDatabase

    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

    /// The databases with which deliveries are tested.
    enum Engine: String, CaseIterable {
        case sqlite
        case postgresql
    }

    /// Calls the body with a separate world for each engine.
    static func run(
        on engines: [Engine] = Engine.allCases, _ body: (WebhookWorld) async throws -> Void
    ) async throws {
        for engine in engines {
            do {
                try await run(engine, body)
            } catch {
                Issue.record("on \(engine.rawValue): \(error)")
            }
        }
    }

    private static func run(_ engine: Engine, _ body: (WebhookWorld) async throws -> Void) async throws {
        switch engine {
        case .sqlite:
            let folder = try FileManager.default.temporaryFolder()
            defer { FileManager.default.remove(folder) }
            let path = folder.appending(path: "assay.sqlite").path
            try await run({ try SQLiteDatabase(path: path) }, body)
        case .postgresql:
            try await ThrowawayPostgreSQL.withDatabase { place in
                let url = place.url()
                try await run({ try PostgreSQLDatabase(url: url) }, body)
            }
        }
    }

    private static func run(
        _ openDatabase: @escaping @Sendable () throws -> any LedgerDatabase,
        _ body: (WebhookWorld) async throws -> Void
    ) async throws {
        let world = try await open(openDatabase, TestClock())
        do {
            try await body(world)
            #expect(try await world.ledger.audit().findings == [], "the audit found differences")
        } catch {
            try await world.database.close()
            throw error
        }
        try await world.database.close()
    }

    /// The same database again, as another server opens it.
    func again() async throws -> WebhookWorld { try await Self.open(openDatabase, clock) }

    private static func open(
        _ openDatabase: @escaping @Sendable () throws -> any LedgerDatabase, _ clock: TestClock
    ) async throws -> WebhookWorld {
        let database = try openDatabase()
        try await LedgerMigrations.migrate(database, now: 0)
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [PurchaseServerWorld.app],
            clock: { clock.now })
        return WebhookWorld(database: database, ledger: ledger, clock: clock, openDatabase: openDatabase)
    }

    /// Creates an order, and so an event of a customer.
    func order(_ customer: String) async throws {
        _ = try await ledger.perform(
            CreateOrder(
                app: "example", OrderDraft(customerID: customer, productID: "com.example.app.coins")))
    }

    /// All events, in the form in which the receiver should get them.
    var events: [StoredEvent] {
        get async throws { try await ledger.answer(EventList(app: "example", limit: 10_000)) }
    }

    /// The webhook of a receiver, with the exceptions that are allowed for its host.
    static func webhook(
        _ url: String, secrets: [String] = [secret],
        allowed: Set<String> = ["127.0.0.1", "localhost", "hooks.example"],
        trusting trust: String? = nil
    ) throws -> Webhook {
        Webhook(
            app: "example", url: try #require(WebhookURL(url)),
            secrets: try secrets.map { try #require(WebhookSecret($0)) }, allowedHosts: allowed,
            trust: trust.map { Array($0.utf8) })
    }

    /// A URL to which the notifications of an environment are forwarded.
    static func forward(_ url: String, of environment: AppStoreEnvironment = .production) throws -> Webhook {
        Webhook(
            app: "example", .notifications(environment), url: try #require(WebhookURL(url)), secrets: [],
            allowedHosts: ["127.0.0.1"])
    }

    /// Receives a notification, as the route does.
    ///
    /// - Parameter body: the body of the request around the signed payload.
    /// - Returns: the body.
    @discardableResult
    func receive(
        _ template: NotificationTemplate, body: (String) -> String = { #"{"signedPayload":"\#($0)"}"# }
    ) async throws -> String {
        let payload = try MintedWorld.mint(template)
        let text = body(String(decoding: payload, as: UTF8.self))
        let examined = ledger.examine(EvidenceSubmission(notification: payload, in: Array(text.utf8)))
        #expect(examined.error == nil && examined.observer == "example")
        _ = try await ledger.perform(ObserveEvidence(examined))
        return text
    }

    /// Delivers to a webhook while the body runs.
    func delivering<Value>(
        to webhook: Webhook, resolver: NameResolver = .system, attemptLimit: TimeAmount = .minutes(10),
        _ body: (WebhookDispatcher) async throws -> Value
    ) async throws -> Value {
        let dispatcher = dispatcher(resolver: resolver, attemptLimit: attemptLimit)
        dispatcher.deliver(to: [webhook], from: ledger)
        // A webhook begins with the events after the server first saw it.
        try await wait { try await ledger.answer(WebhookList(app: "example")).contains { $0.url == webhook.url.text } }
        do {
            let value = try await body(dispatcher)
            await dispatcher.stop()
            return value
        } catch {
            await dispatcher.stop()
            throw error
        }
    }

    func dispatcher(
        resolver: NameResolver = .system, attemptLimit: TimeAmount = .minutes(10)
    ) -> WebhookDispatcher {
        let clock = clock
        return WebhookDispatcher(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, resolver: resolver,
            attemptLimit: attemptLimit
        ) { clock.now }
    }

    /// The stored state of the only webhook.
    var status: WebhookStatus {
        get async throws { try #require(try await ledger.answer(WebhookList(app: "example")).first) }
    }

    /// Waits until a condition holds, for ten minutes at most.
    func wait(_ condition: () async throws -> Bool, _ location: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<30_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the condition does not hold", sourceLocation: location)
    }
}

extension StoredEvent {
    /// The body of its message.
    var sent: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(EventMessage(content)), as: UTF8.self)
        }
    }
}
