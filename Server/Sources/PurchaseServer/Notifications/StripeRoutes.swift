import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /stripe/{app}`: events of Stripe, without a key, because the signature is the proof. They state grounds of the
/// shop `stripe`.
struct StripeRoutes {
    /// The maximum size of a request, in bytes. A subscription of twenty items has about 60 kB.
    static let bodyBytes = 256 << 10

    let ledger: TimedLedger
    let apps: [String: RegisteredApp]
    let settings: [String: StripeSettings]
    let bodies: BodyReader
    let workers: WorkerPool
    let clock: @Sendable () -> Timestamp

    func add(to router: Router<ServerContext>) {
        router.post("/stripe/:app") { request, context in
            let name = try context.identifier("app")
            guard let app = apps[name], let settings = settings[name], !settings.secrets.isEmpty else {
                throw Problem(
                    .notFound, "stripe_not_configured", "The app of the path does not accept events of Stripe.",
                    expected: "an app with grounds.stripe in the settings")
            }
            let signature = try StripeSignature(request.headers[values: .stripeSignature], at: clock())
            let (id, event) = try await bodies.withBody(of: request) { body in
                try await workers.run {
                    guard signature.isValid(over: body, settings.secrets) else {
                        throw Problem.stripeSignature("a signature by a secret of the app")
                    }
                    return try StripeMessage.read(body, of: app, settings)
                }
            }
            guard let event else { return try Response.json(StripeAnswer(eventID: id, result: "ignored")) }
            let outcome = try await ledger.perform(RecordStripeEvent(app: app.id, event))
            guard outcome != .held else {
                throw Problem(
                    .unprocessableContent, "stripe_event_held",
                    "The event waits until nothing is missing. Correct that, and let Stripe send it again.",
                    expected: "prices of grounds.stripe.products, and metadata.assay_customer", found: event.missing)
            }
            return try Response.json(StripeAnswer(eventID: id, result: outcome.rawValue))
        }
    }
}

extension HTTPField.Name {
    /// Stripe, "Verify webhook signatures manually".
    fileprivate static let stripeSignature = HTTPField.Name("Stripe-Signature") ?? .server
}

extension Problem {
    fileprivate static func stripeSignature(_ expected: String) -> Problem {
        Problem(
            .badRequest, "stripe_signature_invalid", "The request does not have the signature of Stripe.",
            expected: expected)
    }
}

/// `Stripe-Signature`: a time, and codes of the scheme `v1`, of which one must be right.
struct StripeSignature: Sendable {
    /// How far the time may be from now, in seconds, as Stripe's libraries have it for the past.
    private static let tolerance: Int64 = 300

    private let time: Int64
    private let codes: [[UInt8]]

    init(_ fields: [String], at now: Timestamp) throws(Problem) {
        let parts = fields.flatMap { $0.split(separator: ",") }.map { $0.split(separator: "=", maxSplits: 1) }
        func values(_ name: String) -> [Substring] { parts.filter { $0.count == 2 && $0[0] == name }.map { $0[1] } }
        let times = values("t")
        guard times.count == 1, let time = Int64(times[0]), (0...1 << 40).contains(time) else {
            throw .stripeSignature("one t in Stripe-Signature")
        }
        guard abs(now.millisecondsSince1970 / 1000 - time) <= Self.tolerance else {
            throw .stripeSignature("a time of the last or next \(Self.tolerance / 60) minutes")
        }
        (self.time, codes) = (time, values("v1").compactMap { Self.bytes(hexadecimal: $0.utf8) })
        guard !codes.isEmpty else { throw .stripeSignature("a v1 in Stripe-Signature") }
    }

    /// Whether one of the secrets signed the body. Each code is compared in constant time.
    func isValid(over body: [UInt8], _ secrets: [String]) -> Bool {
        secrets.contains { secret in
            var code = HMAC<SHA256>(key: SymmetricKey(data: Data(secret.utf8)))
            code.update(data: Data("\(time).".utf8))
            code.update(data: body)
            let own = code.finalize()
            return codes.contains { own == $0 }
        }
    }

    private static func bytes(hexadecimal text: Substring.UTF8View) -> [UInt8]? {
        guard text.count == 2 * SHA256.byteCount else { return nil }
        var bytes: [UInt8] = []
        for digit in text {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            bytes.append(UInt8(value))
        }
        return stride(from: 0, to: bytes.count, by: 2).map { bytes[$0] << 4 | bytes[$0 + 1] }
    }
}

/// An event of Stripe (Stripe, "The Event object") whose object is a subscription, in its old and new versions.
private struct StripeMessage: Decodable {
    /// Those that carry a whole subscription and that a change of its state causes.
    private static let types: Set = [
        "customer.subscription.created", "customer.subscription.updated", "customer.subscription.deleted",
        "customer.subscription.paused", "customer.subscription.resumed",
    ]
    /// The end of the year 9999: later times cannot be written.
    private static let latest: Int64 = 253_402_300_799

    let created: Int64
    let livemode: Bool
    let data: Content

    struct Head: Decodable {
        let id: String
        let type: String
        /// The connected account, or the account of an organization, that it is about. Anybody can have a connected
        /// account, so it states nothing.
        let account: String?
        let context: String?
    }

    struct Content: Decodable {
        let object: Subscription
    }

    struct Subscription: Decodable {
        let id: String
        let status: String
        let metadata: [String: String]?
        let items: Items
        /// In versions before 2025-03-31, where items have none.
        let currentPeriodEnd: Int64?
        let cancelAt: Int64?
        let cancelAtPeriodEnd: Bool?

        struct Items: Decodable {
            let data: [Item]
            let hasMore: Bool?
        }

        struct Item: Decodable {
            let price: Price
            let currentPeriodEnd: Int64?
        }

        struct Price: Decodable {
            let id: String
        }
    }

    /// Reads a body whose signature is valid.
    ///
    /// - Returns: the id of the event; no event if it is not about a subscription of the account itself.
    static func read(
        _ body: [UInt8], of app: RegisteredApp, _ settings: StripeSettings
    ) throws -> (id: String, event: StripeEvent?) {
        let decoder = JSONDecoder()
        // It leaves the keys of dictionaries, such as metadata, as they are.
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do {
            let head = try decoder.decode(Head.self, from: Data(body))
            guard types.contains(head.type), head.account == nil, head.context == nil else { return (head.id, nil) }
            return (head.id, try decoder.decode(Self.self, from: Data(body)).event(head, app, settings))
        } catch let error as DecodingError {
            throw Problem(.fieldMalformed, expected: "an event of Stripe", found: String("\(error)".prefix(200)))
        }
    }

    private func event(_ head: Head, _ app: RegisteredApp, _ settings: StripeSettings) throws(Problem) -> StripeEvent {
        let subscription = data.object
        let ends = subscription.items.data.compactMap { $0.currentPeriodEnd ?? subscription.currentPeriodEnd }
        guard [head.id, subscription.id].allSatisfy({ $0.wholeMatch(of: /[A-Za-z0-9_]{1,128}/) != nil }),
            (ends + [created, subscription.cancelAt ?? 0]).allSatisfy((0...Self.latest).contains)
        else { throw Problem(.fieldMalformed, expected: "ids and times of Stripe", found: String(head.id.prefix(200))) }
        let standing: StripeEvent.Standing? =
            head.type.hasSuffix(".deleted") ? .ended : Self.standing(subscription.status)
        var event = StripeEvent(
            id: head.id, created: created, subscription: subscription.id, standing: standing ?? .unpaid,
            ends: ends.max() ?? 0, environment: try EnvironmentName(livemode ? .production : .sandbox).accepted(by: app)
        )
        event.isFirst = head.type.hasSuffix(".created")
        var missing = standing == nil ? ["a version of Assay that knows the status \(subscription.status)"] : []
        if event.standing.isGiving {
            for item in subscription.items.data {
                switch settings.products[item.price.id] {
                case nil: missing.append("a product for \(item.price.id)")
                case .some(nil): break
                case .some(let product?):
                    guard let end = item.currentPeriodEnd ?? subscription.currentPeriodEnd else {
                        throw Problem(.fieldMalformed, expected: "current_period_end of a subscription or its items")
                    }
                    let (key, until) = (ExactText(product), accessEnd(end, app))
                    event.products[key] = event.products[key].map { max($0, until) } ?? until
                }
            }
            if subscription.items.hasMore ?? false { missing.append("a subscription whose items fit into an event") }
            event.customerID = subscription.metadata?["assay_customer"].flatMap {
                ExactText($0).isIdentifier ? $0 : nil
            }
            if event.customerID == nil, !event.products.isEmpty || !missing.isEmpty {
                missing.append("metadata.assay_customer")
            }
        }
        // PostgreSQL has no NUL in texts.
        let text = missing.joined(separator: ", ").unicodeScalars.filter { $0.value >= 0x20 }.prefix(500)
        event.missing = missing.isEmpty ? nil : String(String.UnicodeScalarView(text))
        return event
    }

    /// The end of access in a period. One that renews gets the time that Apple's renewals get for their news.
    private func accessEnd(_ end: Int64, _ app: RegisteredApp) -> Timestamp {
        let (cancelAt, isCancelled) = (data.object.cancelAt ?? .max, data.object.cancelAtPeriodEnd ?? false)
        let tolerance = isCancelled || cancelAt <= end ? 0 : app.lapseTolerance
        return Timestamp(millisecondsSince1970: min(end, cancelAt) * 1000 + tolerance)
    }

    private static func standing(_ status: String) -> StripeEvent.Standing? {
        switch status {
        case "incomplete": .incomplete
        case "past_due", "unpaid", "paused": .unpaid
        case "trialing": .trialing
        case "active": .active
        case "canceled", "incomplete_expired": .ended
        default: nil
        }
    }
}
