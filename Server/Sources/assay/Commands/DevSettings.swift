import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseServer

/// The settings of `assay dev`: those of a settings file, or of one app; with the database, the keys and the
/// certificates of the folder.
struct DevSettings: Sendable {
    let folder: URL
    /// The settings file; `nil` for one app without settings.
    let config: String?
    /// The bundle id of the app without settings.
    let bundleID: String
    let port: Int

    var answerKeys: AnswerKeyFiles { AnswerKeyFiles(current: path("answers.key")) }

    /// The certificates of the store.
    var trust: String { path("authority/\(AppStoreAuthority.trustFile)") }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Reads the settings.
    func read() throws -> ServerConfiguration {
        let values: [(ServerSetting, String)] = [
            (.host, "127.0.0.1"), (.port, "\(port)"), (.admin, "127.0.0.1:0"),
            (.database, "sqlite:\(path("assay.sqlite"))"),
            (.trust, trust),
            (.answerKey, answerKeys.current), (.entryKey, path("entries.key")), (.signingKey, path("log.key")),
        ]
        let options = Dictionary(
            uniqueKeysWithValues: values.compactMap { setting, text in setting.option.map { ($0, [text]) } })
        guard let config else {
            let place = LedgerPlace(
                file: try SettingsFile(""), path: nil, name: nil, environment: [:], databaseOption: [],
                entryKeyOption: [])
            var configuration = try place.configuration(options: options)
            // Signed evidence states the kinds of the products, so new ones need no settings.
            var app = RegisteredApp(id: "dev", bundleIDs: [bundleID])
            app.sandboxAccess = .everyone
            configuration.apps = [app.id: app]
            return configuration
        }
        // No variable counts, because those of a shell are of another server.
        let place = try LedgerDatabaseOptions.place(
            config: config, database: nil, entryKey: nil, [:], isTrustExtended: true)
        let configuration = try place.configuration(options: options)
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
