import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseServer
import Synchronization

/// The settings of `assay dev`: those of a settings file, or of one app; with the database, the keys and the
/// certificates of the folder.
struct DevSettings: Sendable {
    let folder: URL
    /// The settings file; `nil` for one app without settings.
    let config: String?
    /// The bundle id of the app without settings.
    let bundleID: String
    let port: Int
    /// The products of the app without settings.
    let catalog: DevCatalog

    var answerKeys: AnswerKeyFiles { AnswerKeyFiles(current: path("answers.key")) }

    /// The certificates of the store.
    var trust: String { path("authority/\(AppStoreAuthority.trustFile)") }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The app without settings, with the products that its store sells.
    static func app(_ bundleID: String, _ products: [String: RegisteredProduct] = [:]) -> RegisteredApp {
        var app = RegisteredApp(id: "dev", bundleIDs: [bundleID])
        app.sandboxAccess = .everyone
        app.products = products
        return app
    }

    /// Reads the settings.
    ///
    /// - Parameter isMade: whether the folder has its keys and certificates. Without them the settings are checked.
    func read(isMade: Bool = true) throws -> ServerConfiguration {
        var (options, files) = (
            DevFolder.options(in: folder).merging(["--host": ["127.0.0.1"], "--port": ["\(port)"]]) { $1 },
            NamedFiles.read
        )
        if !isMade {
            options["--answer-key"] = nil
            files.anchors = { [trust] path throws(SettingFault) in
                path == trust ? [] : try NamedFiles.read.anchors(path)
            }
        }
        // No variable counts, because those of a shell are of another server.
        var configuration = try LedgerDatabaseOptions.place(
            config: config, [:], options: options, files: files, readsDefault: false
        ).configuration
        configuration.admin = port == 0 ? .port(host: "127.0.0.1", 0) : .standard
        configuration.isAdminStandard = true
        guard let config else {
            configuration.apps = ["dev": Self.app(bundleID, catalog.products)]
            return configuration
        }
        guard !configuration.apps.isEmpty else {
            throw InputError(config, "has no apps; add apps:, or leave out --config")
        }
        return configuration
    }

    /// The settings, with questions to the App Store for the simulated one.
    func asking(_ store: String, in configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.appStore.verifyReceiptProduction = "\(store)/verifyReceipt"
        configuration.appStore.verifyReceiptSandbox = "\(store)/sandbox/verifyReceipt"
        configuration.appStore.serverAPIProduction = store
        configuration.appStore.serverAPISandbox = "\(store)/sandbox"
        configuration.appStore.tlsTrust = nil
        return configuration
    }

    /// The apps of the settings, for the store.
    func shops(_ configuration: ServerConfiguration) -> [SampleShop] {
        configuration.apps.values.sorted { $0.id < $1.id }.flatMap { app in
            app.bundleIDs.sorted().map { bundleID in
                var shop = SampleShop(bundleID: bundleID)
                shop.appID = app.appleID
                shop.sharedSecret = configuration.sharedSecrets[bundleID]
                shop.products = app.products.isEmpty ? nil : app.products.mapValues { .init($0.kind) }
                return shop
            }
        }
    }
}

/// The products that the store sells, which the server registers for an app without settings: those at the start, and
/// each new one before the store answers whoever added it.
final class DevCatalog: Sendable {
    private struct State {
        var products: [String: RegisteredProduct] = [:]
        /// Who waits until the server knows the products; `nil` while no server runs.
        var waiting: [CheckedContinuation<Void, Never>]?
    }

    private let bundleID: String
    private let state = Mutex(State())
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    init(bundleID: String) {
        self.bundleID = bundleID
        (changes, change) = AsyncStream.makeStream(of: Void.self)
    }

    var products: [String: RegisteredProduct] { state.withLock { $0.products } }

    /// Takes the products of the store, and returns when the server knows them.
    func take(_ products: [StoreProduct]) async {
        let sold = products.filter { $0.bundleID == bundleID }
            .map { ($0.productID, RegisteredProduct(kind: ProductKind($0.kind))) }
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                state.products = Dictionary(uniqueKeysWithValues: sold)
                state.waiting?.append(continuation)
                return state.waiting != nil
            }
            if isWaiting { change.yield() } else { continuation.resume() }
        }
    }

    /// Reads the settings again for each change, until the server ends.
    func follow(_ reload: @Sendable () async -> Void) async {
        state.withLock { $0.waiting = [] }
        change.yield()
        for await _ in changes {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting ?? []
            }
            await reload()
            for continuation in waiting { continuation.resume() }
        }
        let rest = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting ?? []
        }
        for continuation in rest { continuation.resume() }
    }
}

extension ProductKind {
    fileprivate init(_ kind: StoreProduct.Kind) {
        self =
            switch kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .autoRenewable: .autoRenewable
            case .nonRenewing: .nonRenewing
            }
    }
}

extension StoreProduct.Kind {
    fileprivate init(_ kind: ProductKind) {
        self =
            switch kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .autoRenewable: .autoRenewable
            case .nonRenewing: .nonRenewing
            }
    }
}

/// The API keys of `assay dev`: for each app, one for the app itself, one for its backend and one for operators. They
/// are kept in the folder, because the server stores only their hashes.
struct DevKeys: Sendable {
    /// The keys of an app.
    struct App: Sendable {
        let bundleIDs: Set<String>
        let clientKey: String
        let backendKeyFile: String
        let adminKey: String

        /// One of its bundle ids, always the same.
        var bundleID: String { bundleIDs.min() ?? "" }
    }

    let apps: [App]

    /// Reads the keys, and creates missing ones.
    init(_ settings: DevSettings, _ configuration: ServerConfiguration, _ ledger: PurchaseLedger) async throws {
        var apps: [App] = []
        for app in configuration.apps.values.sorted(by: { $0.id < $1.id }) {
            // Without a settings file the only app has the short names.
            let prefix = settings.config == nil ? "" : "\(Self.fileName(app.id))-"
            let backendKeyFile = settings.path("\(prefix)backend.key")
            _ = try await Self.key(backendKeyFile, "backend", .backend, app.id, ledger)
            let adminKey = try await Self.key(settings.path("\(prefix)admin.key"), "admin", .admin, app.id, ledger)
            let clientKey = try await Self.key(settings.path("\(prefix)client.key"), "client", .client, app.id, ledger)
            apps.append(
                App(
                    bundleIDs: app.bundleIDs, clientKey: clientKey, backendKeyFile: backendKeyFile,
                    adminKey: adminKey))
        }
        self.apps = apps
    }

    /// The keys of the apps, for the store's page.
    var clientKeysByBundleID: [String: String] {
        var keys: [String: String] = [:]
        for app in apps { for bundleID in app.bundleIDs { keys[bundleID] = app.clientKey } }
        return keys
    }

    /// The keys with which the store's page shows what the server says of a customer.
    var adminKeysByBundleID: [String: String] {
        var keys: [String: String] = [:]
        for app in apps { for bundleID in app.bundleIDs { keys[bundleID] = app.adminKey } }
        return keys
    }

    private static func key(
        _ path: String, _ name: String, _ scope: APIKeyScope, _ app: String, _ ledger: PurchaseLedger
    ) async throws -> String {
        if FileManager.default.fileExists(atPath: path) { return try SecretFile.secret(path) }
        let file = try SecretOutputFile(creating: path)
        let created = try await ledger.perform(CreateAPIKey(app: app, name: name, scopes: [scope]))
        try file.write("\(created.text)\n")
        return created.text
    }

    /// The name of an app as part of the name of a file: a name may have characters that a file name may not have.
    private static func fileName(_ app: String) -> String {
        app.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_")))
            ?? "app"
    }
}
