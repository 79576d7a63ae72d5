import Foundation
import HTTPTypes
import Hummingbird

/// Apps, products and customers; the whole state; and its deletion.
struct CatalogRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        router.get("/control/state") { _, _ in
            try Response.json(await service.change { state, _ in StateAnswer(state) })
        }
        router.post("/control/reset") { request, _ in
            try request.requireJSON()
            try await service.reset()
            return try Response.json(await service.change { state, _ in StateAnswer(state) })
        }
        router.get("/control/apps") { _, _ in
            try Response.json(await service.change { state, _ in state.store.apps })
        }
        router.post("/control/apps") { request, _ in
            let app = try await request.read(NewApp.self)
            let names = app.environmentNames ?? service.environmentNames
            return try Response.json(
                await service.change { state, _ in
                    let added = try state.store.addApp(
                        bundleID: app.bundleID, appID: app.appID, name: app.name, version: app.version ?? "1.0",
                        sharedSecret: app.sharedSecret, gracePeriodDays: app.gracePeriodDays ?? 0,
                        environmentNames: names)
                    guard let isReleased = app.isReleased else { return added }
                    return try state.store.setReleased(isReleased, added.bundleID)
                }, status: .created)
        }
        router.get("/control/products") { _, _ in
            try Response.json(await service.change { state, _ in state.store.products })
        }
        router.post("/control/products") { request, _ in
            let product = try await request.read(NewProduct.self)
            return try Response.json(
                await service.change { state, _ in
                    try state.store.addProduct(
                        bundleID: product.bundleID, productID: product.productID, kind: product.kind,
                        price: product.price ?? 990, currency: product.currency ?? "USD",
                        isFamilyShareable: product.isFamilyShareable ?? false, subscription: product.subscription)
                }, status: .created)
        }
        router.post("/control/products/price") { request, _ in
            let change = try await request.read(PriceChange.self)
            return try Response.json(
                await service.change { state, _ in
                    try state.store.changePrice(
                        of: change.productID, of: change.bundleID, to: change.price,
                        needsConsent: change.needsConsent ?? false)
                })
        }
        router.post("/control/products/sale") { request, _ in
            let change = try await request.read(SaleChange.self)
            return try Response.json(
                await service.change { state, _ in
                    try state.store.setForSale(change.isForSale, change.productID, of: change.bundleID)
                })
        }
        router.post("/control/products/extend") { request, _ in
            let wanted = try await request.read(MassExtension.self)
            return try Response.json(
                await service.change { state, _ in
                    try state.store.extendRenewals(
                        of: wanted.productID, of: wanted.bundleID, days: wanted.days,
                        environment: wanted.environment ?? .production, storefronts: wanted.storefrontCountryCodes,
                        requestIdentifier: wanted.requestIdentifier)
                })
        }
        router.get("/control/customers") { _, _ in
            try Response.json(await service.change { state, _ in state.store.customers })
        }
        router.post("/control/customers") { request, _ in
            let customer = try await request.read(NewCustomer.self)
            return try Response.json(
                await service.change { state, _ in
                    try state.store.addCustomer(
                        customer.customerID, environment: customer.environment ?? .sandbox,
                        deviceID: customer.deviceID, storefront: customer.storefront ?? "USA")
                }, status: .created)
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
