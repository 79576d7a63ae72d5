import Foundation
import HTTPTypes
import Hummingbird

/// Apps, products and customers; the whole state; and its deletion.
struct CatalogRoutes {
    let service: StoreService
    let configuration: SimulatorConfiguration

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        let (environmentNames, customerEnvironment) = (service.environmentNames, configuration.customerEnvironment)
        routes.get("/control/state") { state, _ in StateAnswer(state) }
        router.post("/control/reset") { request, context in
            try request.requireJSON()
            try await service.reset()
            return try await service.answer(request, context) { state, _ in StateAnswer(state) }
        }
        routes.get("/control/apps") { state, _ in state.store.apps }
        routes.post("/control/apps", NewApp.self, .created) { state, app, _ in
            let added = try state.store.addApp(
                bundleID: app.bundleID, appID: app.appID, name: app.name, version: app.version ?? "1.0",
                sharedSecret: app.sharedSecret, gracePeriodDays: app.gracePeriodDays ?? 0,
                environmentNames: app.environmentNames ?? environmentNames)
            guard let isReleased = app.isReleased else { return added }
            return try state.store.setReleased(isReleased, added.bundleID)
        }
        routes.get("/control/products") { state, _ in state.store.products }
        router.post("/control/products") { request, context in
            let product = try await request.read(NewProduct.self)
            let response = try await service.answer(request, context, status: .created) { state, _ in
                try state.store.addProduct(
                    bundleID: product.bundleID, productID: product.productID, kind: product.kind,
                    price: product.price ?? 990, currency: product.currency ?? "USD",
                    isFamilyShareable: product.isFamilyShareable ?? false, subscription: product.subscription)
            }
            if let onProducts = configuration.onProducts {
                await onProducts(try await service.change { state, _ in state.store.products })
            }
            return response
        }
        routes.post("/control/products/price", PriceChange.self) { state, change, _ in
            try state.store.changePrice(
                of: change.productID, of: change.bundleID, to: change.price, needsConsent: change.needsConsent ?? false)
        }
        routes.post("/control/products/sale", SaleChange.self) { state, change, _ in
            try state.store.setForSale(change.isForSale, change.productID, of: change.bundleID)
        }
        routes.post("/control/products/extend", MassExtension.self) { state, wanted, _ in
            try state.store.extendRenewals(
                of: wanted.productID, of: wanted.bundleID, days: wanted.days,
                environment: wanted.environment ?? .production, storefronts: wanted.storefrontCountryCodes,
                requestIdentifier: wanted.requestIdentifier)
        }
        routes.get("/control/customers") { state, _ in state.store.customers }
        routes.post("/control/customers", NewCustomer.self, .created) { state, customer, _ in
            try state.store.addCustomer(
                customer.customerID, environment: customer.environment ?? customerEnvironment,
                deviceID: customer.deviceID,
                storefront: customer.storefront ?? "USA")
        }
    }
}

private struct NewApp: RequestBody {
    let bundleID: String
    let appID: UInt64?
    let name: String?
    let version: String?
    let sharedSecret: String?
    let gracePeriodDays: Int?
    let environmentNames: EnvironmentNames?
    /// False for an app that only the sandbox knows.
    let isReleased: Bool?

    static let members: [BodyMember] = [
        "bundle_id", "app_id", "name", "version", "shared_secret", "grace_period_days", "environment_names",
        "is_released",
    ]
}

private struct NewProduct: RequestBody {
    let bundleID: String
    let productID: String
    let kind: StoreProduct.Kind
    let price: Int64?
    let currency: String?
    let isFamilyShareable: Bool?
    let subscription: StoreProduct.Terms?

    static let members: [BodyMember] = [
        "bundle_id", "product_id", "kind", "price", "currency", "is_family_shareable",
        BodyMember(
            "subscription",
            [
                "group_id", "level", "period", "invitations",
                BodyMember("offers", ["offer_id", "kind", "mode", "period", "periods", "price"]),
            ]),
    ]
}

private struct PriceChange: RequestBody {
    let bundleID: String
    let productID: String
    let price: Int64
    let needsConsent: Bool?

    static let members: [BodyMember] = ["bundle_id", "product_id", "price", "needs_consent"]
}

private struct SaleChange: RequestBody {
    let bundleID: String
    let productID: String
    let isForSale: Bool

    static let members: [BodyMember] = ["bundle_id", "product_id", "is_for_sale"]
}

private struct MassExtension: RequestBody {
    let bundleID: String
    let productID: String
    let days: Int
    let environment: StoreEnvironment?
    let storefrontCountryCodes: [String]?
    let requestIdentifier: String?

    static let members: [BodyMember] = [
        "bundle_id", "product_id", "days", "environment", "storefront_country_codes", "request_identifier",
    ]
}

private struct NewCustomer: RequestBody {
    let customerID: String?
    let environment: StoreEnvironment?
    let deviceID: String?
    let storefront: String?

    static let members: [BodyMember] = ["customer_id", "environment", "device_id", "storefront"]
}

/// The whole state, with only the newest hundred events.
struct StateAnswer: Encodable {
    let clock: ClockAnswer
    let apps: [StoreApp]
    let products: [StoreProduct]
    let customers: [StoreCustomer]
    let transactions: [StoreTransaction]
    let subscriptions: [StoreSubscription]
    let events: [StoreEvent]
    let answerFaults: [AnswerFault]
    let evidenceFaults: [EvidenceFault]
    let certificateFaults: [CertificateFault]

    init(_ state: ServiceState) {
        clock = ClockAnswer(state)
        apps = state.store.apps
        products = state.store.products
        customers = state.store.customers
        transactions = state.store.transactions
        subscriptions = state.store.subscriptions
        events = state.store.events.suffix(100)
        answerFaults = state.answerFaults
        evidenceFaults = state.evidenceFaults
        certificateFaults = state.certificateFaults
    }
}
