import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird

extension Routes {
    /// The whole state and its deletion; the clock; apps, products and customers.
    func addCatalog(_ configuration: SimulatorConfiguration) {
        let (environmentNames, customerEnvironment) = (service.environmentNames, configuration.customerEnvironment)
        let service = service
        get("/control/state") { state, _ in state.answer }
        router.post("/control/reset") { request, context in
            try request.requireJSON()
            try await service.reset()
            return try await service.answer(request, context) { state, _ in state.answer }
        }
        get("/control/clock") { state, _ in state.clockAnswer }
        post("/control/clock", ["time", "advance", "advance_seconds", "rate"]) { state, body, call in
            try state.changeClock(body, call.world)
            return state.clockAnswer
        }
        get("/control/apps") { state, _ in state.store.apps }
        post(
            "/control/apps",
            [
                "bundle_id", "app_id", "name", "version", "shared_secret", "grace_period_days", "environment_names",
                "is_released",
            ], .created
        ) { state, body, _ in
            let isReleased: Bool? = try body.isReleased
            let added = try state.store.addApp(
                bundleID: body.bundleID, appID: body.appID, name: body.name, version: body.version ?? "1.0",
                sharedSecret: body.sharedSecret, gracePeriodDays: body.gracePeriodDays ?? 0,
                environmentNames: body.environmentNames ?? environmentNames)
            return try isReleased.map { try state.store.setReleased($0, added.bundleID) } ?? added
        }
        post("/control/apps/release", ["bundle_id", "is_released"]) { state, body, _ in
            try state.store.setReleased(body.isReleased, body.bundleID)
        }
        get("/control/products") { state, _ in state.store.products }
        router.post("/control/products") { request, context in
            let json = try await request.json([
                "bundle_id", "product_id", "kind", "price", "currency", "is_family_shareable",
                BodyMember(
                    "subscription",
                    [
                        "group_id", "level", "period", "invitations",
                        BodyMember("offers", ["offer_id", "kind", "mode", "period", "periods", "price"]),
                    ]),
            ])
            let response = try await service.answer(request, context, status: .created) { state, _ in
                let body = try StoreJSON.decode(RequestBody.self, from: json)
                return try state.store.addProduct(
                    bundleID: body.bundleID, productID: body.productID, kind: body.kind, price: body.price ?? 990,
                    currency: body.currency ?? "USD", isFamilyShareable: body.isFamilyShareable ?? false,
                    subscription: body.subscription)
            }
            if let onProducts = configuration.onProducts {
                await onProducts(try await service.change { state, _ in state.store.products })
            }
            return response
        }
        post("/control/products/price", ["bundle_id", "product_id", "price", "needs_consent"]) { state, body, _ in
            try state.store.changePrice(
                of: body.productID, of: body.bundleID, to: body.price, needsConsent: body.needsConsent ?? false)
        }
        post("/control/products/sale", ["bundle_id", "product_id", "is_for_sale"]) { state, body, _ in
            try state.store.setForSale(body.isForSale, body.productID, of: body.bundleID)
        }
        post(
            "/control/products/extend",
            ["bundle_id", "product_id", "days", "environment", "storefront_country_codes", "request_identifier"]
        ) { state, body, _ in
            try state.store.extendRenewals(
                of: body.productID, of: body.bundleID, days: body.days,
                environment: body.environment ?? .production, storefronts: body.storefrontCountryCodes,
                requestIdentifier: body.requestIdentifier)
        }
        get("/control/customers") { state, _ in state.store.customers }
        post(
            "/control/customers",
            ["customer_id", "environment", "device_id", "storefront", "subscription_renewal_rate"], .created
        ) { state, body, _ in
            try state.store.addCustomer(
                body.customerID, environment: body.environment ?? customerEnvironment, deviceID: body.deviceID,
                storefront: body.storefront ?? "USA", renewalRate: body.subscriptionRenewalRate)
        }
    }

    /// The pending faults, and the names of all.
    func addFaults() {
        get("/control/faults") { state, _ in state.faultsAnswer }
        delete("/control/faults") { state, _ in
            state.removeFaults()
            return state.faultsAnswer
        }
        add("answers", AnswerFault.self) { $0.settings.answerFaults.append($1) }
        add("server-api", ServerAPIFault.self) { state, fault in
            if fault.kind == .stale {
                state.frozen = FrozenStore(store: state.store, notifications: state.notifications)
            }
            state.settings.serverAPI.faults.append(fault)
        }
        add("evidence", EvidenceFault.self) { $0.settings.evidenceFaults.append($1) }
        add("certificates", CertificateFault.self) { $0.settings.certificateFaults.append($1) }
        add("notifications", NotificationFault.self) { $0.settings.notifications.faults.append($1) }
        router.get("/control/fault-names") { _, _ in
            var names = Dictionary(
                uniqueKeysWithValues: EvidenceFault.Kind.allCases.map { ($0.rawValue, $0.faults.map(\.answer)) })
            names["answer"] = FaultName.all(AnswerFault.Kind.self, \.explanation).map(\.answer)
            names["server_api"] = FaultName.all(ServerAPIFault.Kind.self, \.explanation).map(\.answer)
            names["certificate"] = FaultName.all(CertificateFault.Kind.self, \.explanation).map(\.answer)
            names["delivery"] = FaultName.all(NotificationFault.Kind.self, \.explanation).map(\.answer)
            return try Response.json(names)
        }
    }

    private func add<Fault: CountedFault>(
        _ list: String, _ type: Fault.Type, _ add: @escaping @Sendable (inout ServiceState, Fault) -> Void
    ) {
        post("/control/faults/\(list)", Fault.members, .created) { state, body, _ in
            let fault = try body.read(type)
            try fault.check()
            add(&state, fault)
            return state.faultsAnswer
        }
    }

    /// What a developer and Apple decide about the App Store Server API: keys, limits, and the odds of refunds.
    func addServerAPIControl(_ retention: RetentionSender) {
        let service = service
        get("/control/api-keys") { state, _ in state.settings.serverAPI.keys.values.sorted { $0.keyID < $1.keyID } }
        post("/control/api-keys", ["issuer_id", "bundle_id"], .created) { state, body, _ in
            let issuerID: String? = try body.issuerID
            try require(
                (1...255).contains(issuerID?.utf8.count ?? 1), .invalidValue, "An issuer id has 1 to 255 bytes.")
            let app: StoreApp? = try (body.bundleID as String?).map { try state.store.app($0) }
            let (key, handout) = StoreAPIKey.make(issuerID: issuerID, bundleID: app?.bundleID)
            state.settings.serverAPI.keys[key.keyID] = key
            return handout
        }
        delete("/control/api-keys/{id}") { state, call in
            guard let key = state.settings.serverAPI.keys.removeValue(forKey: call.id) else {
                throw SimulatorRefusal(.notFound, "unknown_key", "There is no key of this id.")
            }
            return key
        }
        post("/control/server-api/limits", ["factor"]) { state, body, _ -> Members in
            let factor: Double = try body.factor
            try require((0.001...1_000_000).contains(factor), .invalidValue, "'factor' is 0.001 to 1000000.")
            state.settings.serverAPI.limitFactor = factor
            state.limits = ServerAPILimits()
            return ["factor": factor]
        }
        post(
            "/control/refund-odds",
            [BodyMember("odds", ["decline", "grant_full", "grant_prorated", "no_preference", "no_answer"])]
        ) { state, body, _ -> Members in
            let odds: RefundOdds? = try body.odds
            try state.store.setRefundOdds(odds)
            return ["odds": odds]
        }
        router.post("/control/subscriptions/{id}/retention") { request, context in
            let id = try context.parameters.require("id")
            let body = try await request.read(["user_locale", "limit_milliseconds"])
            let locale = try body.userLocale ?? "en-US"
            try require(
                (2...35).contains(locale.utf8.count) && locale.utf8.allSatisfy { (0x21...0x7E).contains($0) },
                .invalidValue, "'user_locale' is a locale such as en-US.")
            let limit = try body.limitMilliseconds ?? RetentionSender.usualLimit
            try require((1...60_000).contains(limit), .invalidValue, "'limit_milliseconds' is 1 to 60000.")
            let question = try await service.change { state, _ in
                try state.retentionRequest(about: id, locale: locale, by: service.issuer)
            }
            return try Response.json(await retention.ask(question, limit: .milliseconds(limit)))
        }
        get("/control/consumption") { state, _ in state.settings.serverAPI.consumption }
        get("/control/external-reports") { state, _ in state.settings.serverAPI.externalReports }
    }
}

extension ServiceState {
    /// The whole state, with only the newest hundred events.
    fileprivate var answer: Members {
        [
            "clock": clockAnswer, "apps": store.apps, "products": store.products, "customers": store.customers,
            "transactions": store.transactions, "subscriptions": store.subscriptions,
            "events": Array(store.events.suffix(100)), "answer_faults": settings.answerFaults,
            "evidence_faults": settings.evidenceFaults, "certificate_faults": settings.certificateFaults,
        ]
    }

    /// The time, and the seconds of store time per second of real time.
    var clockAnswer: Members { ["now": store.now, "rate": clock.rate] }

    fileprivate var faultsAnswer: Members {
        [
            "answers": settings.answerFaults, "evidence": settings.evidenceFaults,
            "certificates": settings.certificateFaults,
            "notifications": settings.notifications.faults, "server_api": settings.serverAPI.faults,
        ]
    }

    /// Sets the clock by one of `time`, `advance` (a period) and `advance_seconds`, and its speed by `rate`.
    fileprivate mutating func changeClock(_ body: RequestBody, _ world: Date) throws {
        let (time, advance): (Date?, StorePeriod?) = (try body.time, try body.advance)
        let (seconds, rate): (Int?, Double?) = (try body.advanceSeconds, try body.rate)
        try require(
            [time != nil, advance != nil, seconds != nil].filter({ $0 }).count <= 1, .invalidValue,
            "Give one of 'time', 'advance' and 'advance_seconds'.")
        let target =
            time ?? advance?.end(from: store.now) ?? seconds.map { store.now.addingTimeInterval(Double($0)) }
        if let target { try moveClock(to: target, world) }
        guard let rate else { return }
        try require(
            (0...StoreClock.fastestRate).contains(rate), .invalidValue,
            "A rate is 0 to \(Int(StoreClock.fastestRate)) seconds a second.")
        setClock(world, rate: rate)
    }
}

extension FaultName {
    fileprivate var answer: Members { ["name": name, "explanation": explanation] }
}
