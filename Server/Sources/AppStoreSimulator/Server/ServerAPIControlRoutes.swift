import EvidenceMint
import HTTPTypes
import Hummingbird

/// What a developer and Apple decide about the App Store Server API: keys, limits, and the odds of refunds.
struct ServerAPIControlRoutes {
    let service: StoreService
    let retention: RetentionSender

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        routes.get("/control/api-keys") { state, _ in state.serverAPI.keys.values.sorted { $0.keyID < $1.keyID } }
        routes.post("/control/api-keys", NewAPIKey.self, .created, check: { try $0.check() }) { state, wanted, _ in
            if let bundleID = wanted.bundleID { _ = try state.store.app(bundleID) }
            let (key, handout) = StoreAPIKey.make(issuerID: wanted.issuerID, bundleID: wanted.bundleID)
            state.serverAPI.keys[key.keyID] = key
            return handout
        }
        router.delete("/control/api-keys/{id}") { request, context in
            try await service.answer(request, context) { state, call in
                guard let key = state.serverAPI.keys.removeValue(forKey: call.id) else {
                    throw SimulatorRefusal(.notFound, "unknown_key", "There is no key of this id.")
                }
                return key
            }
        }
        routes.post("/control/server-api/limits", LimitFactor.self) { state, wanted, _ in
            guard (0.001...1_000_000).contains(wanted.factor) else {
                throw StoreError(.invalidValue, "'factor' is 0.001 to 1000000.")
            }
            state.serverAPI.limitFactor = wanted.factor
            state.limits = ServerAPILimits()
            return wanted
        }
        routes.post("/control/apps/release", Release.self) { state, wanted, _ in
            try state.store.setReleased(wanted.isReleased, wanted.bundleID)
        }
        routes.post("/control/refund-odds", WantedOdds.self) { state, wanted, _ in
            try state.store.setRefundOdds(wanted.odds)
            return wanted
        }
        let issuer = service.issuer
        router.post("/control/subscriptions/{id}/retention") { request, context in
            let id = try context.part("id")
            let wanted = try await request.read(RetentionVisit.self)
            let locale = wanted.userLocale ?? "en-US"
            guard (2...35).contains(locale.utf8.count), locale.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw StoreError(.invalidValue, "'user_locale' is a locale such as en-US.")
            }
            let limit = wanted.limitMilliseconds ?? RetentionSender.usualLimit
            guard (1...60_000).contains(limit) else {
                throw StoreError(.invalidValue, "'limit_milliseconds' is 1 to 60000.")
            }
            let question = try await service.change { state, _ in
                try state.retentionRequest(about: id, locale: locale, by: issuer)
            }
            return try Response.json(await retention.ask(question, limit: .milliseconds(limit)))
        }
        routes.get("/control/consumption") { state, _ in state.serverAPI.consumption }
    }
}

private struct NewAPIKey: RequestBody {
    /// A further key of an issuer; nil for a new one.
    let issuerID: String?
    /// The only app of the key; nil for all.
    let bundleID: String?

    static let members: [BodyMember] = ["issuer_id", "bundle_id"]

    func check() throws(StoreError) {
        guard (1...255).contains(issuerID?.utf8.count ?? 1) else {
            throw StoreError(.invalidValue, "An issuer id has 1 to 255 bytes.")
        }
    }
}

private struct LimitFactor: RequestBody, Encodable {
    let factor: Double

    static let members: [BodyMember] = ["factor"]
}

private struct Release: RequestBody {
    let bundleID: String
    let isReleased: Bool

    static let members: [BodyMember] = ["bundle_id", "is_released"]
}

private struct WantedOdds: RequestBody, Encodable {
    /// Nil lets the store decide no refund by itself.
    let odds: RefundOdds?

    static let members: [BodyMember] = [
        BodyMember("odds", ["decline", "grant_full", "grant_prorated", "no_preference", "no_answer"])
    ]
}

/// A customer who is about to cancel.
private struct RetentionVisit: RequestBody {
    let userLocale: String?
    /// The time after which an answer is too late; 700 by default.
    let limitMilliseconds: Int?

    static let members: [BodyMember] = ["user_locale", "limit_milliseconds"]
}
