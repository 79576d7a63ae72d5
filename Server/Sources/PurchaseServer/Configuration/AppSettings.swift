import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseVerification
import Yams

/// The settings of an app, and of what only `verifyReceipt` and the App Store need.
struct AppSettings: Sendable {
    var app: RegisteredApp
    /// The app's shared secret.
    var sharedSecret: String?
    /// Its keys of the App Store Server API, the preferred one first. A second one is there while the first is
    /// replaced.
    var appStoreKeys: [AppStoreServerKey] = []
    /// How `verifyReceipt` answers for its receipts.
    var dropIn: DropInSettings
    /// The receivers of its events and of its notifications.
    var webhooks: [Webhook] = []
    /// What is answered when Apple asks what to show to a customer who is about to cancel.
    var retention = RetentionRules()
    /// How its events of Stripe are verified and read; `nil` without a secret.
    var stripe: StripeSettings?

    /// The longest name, in bytes: it is a part of URLs, and of the names of key files.
    static let nameBytes = 128

    /// The settings of an app, in the order in which they are read.
    static let table: [Setting<AppSettings>] =
        identity + policies + AppStoreKeySettings.rows + products + RefundPolicies.settings.map { $0.at(\.app.refunds) }
        + OfferRules.settings.map { $0.at(\.app.offers) } + RetentionSettings.rows + WebhookSettings.rows
        + StripeSettings.rows

    private static let identity: [Setting<AppSettings>] = [
        Setting("bundle_ids", "required", "Its bundle ids, as in App Store Connect", isList: true) {
            entry, reader, app throws(SettingFault) in
            let texts = try entry.texts()
            app.app.bundleIDs = Set(texts)
            for (index, text) in texts.enumerated() {
                reader.unique(text, "the bundle id", of: app.app.id, entry)
                if texts[..<index].contains(text) {
                    reader.note(entry, SettingFault("has \(text) twice", "Keep one", .conflict))
                }
                guard text.utf8.count <= 155, text.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil else {
                    let fault = "has '\(text.prefix(200))', which is not a bundle id"
                    reader.note(
                        entry,
                        SettingFault(
                            fault, "Write it as in App Store Connect: letters, digits, hyphens and periods, at most 155"
                        ))
                    continue
                }
            }
        },
        Setting("apple_id", "none", "The App Store's number of the app, which production receipts must name then") {
            entry, reader, app throws(SettingFault) in
            let number = try SettingForm<Int64>.number(1...Int64.max).read(entry)
            app.app.appleID = UInt64(number)
            reader.unique("\(number)", "the apple_id", of: app.app.id, entry)
        },
        Setting(
            "environments", "Production, Sandbox",
            "The accepted environments; App Review sends sandbox receipts to production", isList: true
        ) { entry, reader, app throws(SettingFault) in
            app.app.environments = try SettingForm.environments.read(entry)
            let others = app.app.environments.subtracting(AppStoreEnvironment.ofApple).map(\.name)
            // A name that Apple does not use is most likely misspelled, and would refuse every purchase.
            if let other = others.min(), !reader.isTrustExtended {
                throw SettingFault(
                    "names '\(other)', which is not an environment of Apple",
                    "Write Production or Sandbox, or name the certificate of its signer in server.trust")
            }
        },
        Setting("versions", "all", "The accepted versions, of app and transaction receipts", \.app.versions, .texts),
        Setting("shared_secret", "none", "The secret that verifyReceipt asks for with its receipts") {
            entry, _, app throws(SettingFault) in app.sharedSecret = try entry.text()
        },
        Setting("shared_secret_file", "none", "The file with that secret") { entry, reader, app throws(SettingFault) in
            if app.sharedSecret != nil {
                reader.note(
                    entry.place, "the app \(app.app.id) has two shared secrets",
                    "Keep shared_secret or shared_secret_file", .conflict)
            }
            // The path is not repeated in an error: it may be the secret itself, in the wrong place.
            let path = entry.path(try entry.text())
            if let files = entry.files { app.sharedSecret = try files.secret(path) }
        },
    ]

    private static let policies: [Setting<AppSettings>] = [
        Setting(
            "sandbox_access", "testers", "For whom sandbox purchases count: testers, everyone or nobody",
            \.app.sandboxAccess, .choice),
        Setting(
            "lapse_tolerance", "1h",
            "How long a subscription stays active while the news of its renewal are late; 0 turns it off",
            \.app.lapseTolerance, .tolerance),
        Setting(
            "mode", "offline", "Whether Apple is asked about claims: offline, apple or both (ask-apple.md)", \.app.mode,
            .choice),
        Setting(
            "require_signed_transaction", "false",
            "Whether new purchases need a signed transaction, so that a receipt is not enough",
            \.app.requiresSignedTransaction, .flag),
        Setting(
            "require_account_token", "false",
            "Whether new purchases need a signed transaction with a token of the customer", \.app.requiresAccountToken,
            .flag),
        Setting(
            "refund_shortfall", "forgive", "Whether refunded units that were used reduce the balance: forgive or debt",
            \.app.refundShortfall, .choice),
        Setting(
            "transfer", "deny", "What happens when another customer claims a purchase: deny or move", \.app.transfer,
            .choice),
        Setting(
            "guest_restore", "deny", "Whether a restore takes over the purchases of a guest: deny or move",
            \.app.guestRestore, .choice),
        Setting("order_lifetime", "24h", "How long an order waits for its payment", \.app.orderLifetime, .time),
        Setting(
            "unverified_evidence.bytes_per_day", "16777216",
            "How much evidence that did not verify is stored whole in a day (UTC), in bytes",
            \.app.unverifiedEvidence.bytesPerAppAndDay, .number(0...(1 << 40))),
        Setting(
            "unverified_evidence.bytes_per_key_and_day", "4194304", "The same for each key; not more than bytes_per_day"
        ) { entry, _, app throws(SettingFault) in
            let (number, limit) = (
                try SettingForm<Int64>.number(0...(1 << 40)).read(entry), app.app.unverifiedEvidence.bytesPerAppAndDay
            )
            app.app.unverifiedEvidence.bytesPerKeyAndDay = number
            guard number <= limit else {
                throw SettingFault(
                    "is \(number), which is more than the \(limit) of bytes_per_day",
                    "Write at most as many for a key as for all keys of the app", .conflict)
            }
        },
        Setting(
            "record_verify_receipt", "off",
            "Which receipts that verifyReceipt gets are recorded: off, refused or all", \.dropIn.recording, .choice),
        Setting(
            "answer_erased", "as_of_signing",
            "The answer to a receipt of an erased customer: as_of_signing or account_not_found", \.dropIn.erased,
            .choice),
        Setting(
            "accept_signed_transactions", "true",
            "Whether verifyReceipt also answers signed transactions of StoreKit 2", \.dropIn.acceptsSignedTransactions,
            .flag),
    ]

    private static let products: [Setting<AppSettings>] = [
        Setting(
            "set_account_tokens", "false", "Whether Apple gets the owner's token of purchases that have none"
        ) { entry, _, app throws(SettingFault) in
            app.app.setsAccountTokens = try SettingForm.flag.read(entry)
            guard !app.app.setsAccountTokens || app.app.hasAppStoreKey else {
                throw SettingFault(
                    "is true, and the app has no key for it", "Add app_store_keys, or remove set_account_tokens",
                    .conflict)
            }
        },
        Setting(
            "ask_for_missing_news_ms", "0",
            "How long verifyReceipt waits for the App Store's news about a subscription; 0 never asks"
        ) { entry, _, app throws(SettingFault) in
            let milliseconds = try SettingForm<Int64>.number(0...10_000).read(entry)
            guard milliseconds > 0 else { return }
            app.dropIn.askSeconds = Double(milliseconds) / 1000
            guard app.app.hasAppStoreKey else {
                throw SettingFault(
                    "is above 0, and the app has no key for it", "Add app_store_keys, or remove it", .conflict)
            }
        },
        Setting(
            "products", "none", "Its products by their ids; without any, the evidence must state their kinds",
            inner: Setting<ProductSettings>.rows(ProductSettings.table, below: ".ID.")
        ) { entry, reader, app in
            let products = reader.entries(entry)
            reader.products = Set(products.map { ExactText($0.key) })
            for product in products { app.app.products[product.key] = ProductSettings.read(product, &reader) }
        },
    ]

    /// Reads the app of an entry, and notes all its problems.
    init(_ entry: SettingEntry, _ reader: inout SettingsReader) {
        (app, dropIn) = (RegisteredApp(id: entry.key, bundleIDs: []), DropInSettings(app: entry.key))
        if !Self.isName(entry.key) {
            reader.note(
                entry.place,
                "the name of an app is '\(entry.key.prefix(Self.nameBytes))' of \(entry.key.utf8.count) bytes",
                "Write at most \(Self.nameBytes) letters, digits, hyphens, underscores and periods, with a letter or a "
                    + "digit first")
        }
        (reader.namedProducts, reader.products) = ([], nil)
        let given = reader.read(Self.table, entry, into: &self)
        if given["bundle_ids"] == nil {
            reader.note(entry, SettingFault("has no bundle ids", "Add bundle_ids: [com.example.app]", .missing))
        }
        // A mistyped name would apply to nothing: Apple would be told the preference for all other products.
        guard let products = reader.products else { return }
        for (id, named) in reader.namedProducts where !products.contains(ExactText(id)) {
            reader.note(
                named,
                SettingFault(
                    "names '\(id.prefix(200))', which is not in products",
                    "Correct the name, or add the product to products of \(app.id)"))
        }
    }

    /// Whether a text can name an app in a URL, on a command line, in a log and in the name of a file.
    static func isName(_ text: String) -> Bool {
        text.utf8.count <= nameBytes && text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil
    }
}

extension SettingsReader {
    /// Notes a value that two apps share: the same purchase would be granted in both.
    mutating func unique(_ value: String, _ what: String, of app: String, _ entry: SettingEntry) {
        if let owner = owners["\(what) \(value)"], owner != app {
            note(
                entry.place, "\(what) \(value) is in the apps \(owner) and \(app)",
                "Keep it in one app; a purchase would be granted in both", .conflict)
        }
        owners["\(what) \(value)"] = app
    }
}

/// A product, before its settings are compared with each other.
struct ProductSettings: Sendable {
    private var kind: ProductKind?
    private var duration: PassDuration?
    private var entitlements: [String] = []
    private var group = ""

    static let table: [Setting<ProductSettings>] = [
        Setting(
            "kind", "required", "consumable, non_consumable, auto_renewable or non_renewing", \.kind, .choice),
        Setting("type", "none", "Another name of kind", \.kind, .choice),
        Setting(
            "duration", "none", "How long a non-renewing subscription lasts: 90s, 15m, 24h, 30d, 1mo (calendar) or 1y",
            \.duration,
            .parsed("Write a number and a unit: 90s, 15m (minutes), 24h, 30d, 1mo (calendar month) or 1y") {
                PassDuration($0)
            }),
        Setting("entitlements", "none", "The names of what it gives, such as pro", isList: true) {
            entry, _, product throws(SettingFault) in
            product.entitlements = try entry.texts()
            guard product.entitlements.allSatisfy({ ExactText($0).isIdentifier }) else {
                throw SettingFault(
                    "has a name that is too long or has control characters",
                    "Give it a short name: entitlements: [pro]")
            }
        },
        Setting("group", "none", "The id of its subscription group, by which offers are judged", \.group, .text),
    ]

    /// Reads a product; `nil` if its kind is not known.
    static func read(_ entry: SettingEntry, _ reader: inout SettingsReader) -> RegisteredProduct? {
        if !ExactText(entry.key).isIdentifier {
            reader.note(
                entry.place, "the id of a product is empty, too long or has control characters",
                "Write it as in App Store Connect")
        }
        var product = ProductSettings()
        let given = reader.read(table, entry, into: &product)
        func note(_ place: SettingEntry?, _ fault: String, _ remedy: String, _ code: SettingProblem.Code) {
            reader.note((place ?? entry).place, "\(entry.name) \(fault)", remedy, code)
        }
        if given["kind"] != nil, let type = given["type"] {
            note(type, "has a kind and a type", "Keep kind", .conflict)
        }
        if given["kind"] == nil, given["type"] == nil {
            note(
                nil, "has no kind", "Add kind: \(ProductKind.allCases.map(\.rawValue).joined(separator: ", or "))",
                .missing)
        }
        guard let kind = product.kind else { return nil }
        if kind == .nonRenewing, given["duration"] == nil {
            note(nil, "has no duration", "Add duration: 30d, or 1mo or 1y; receipts do not say when it ends", .missing)
        }
        if kind != .nonRenewing, let duration = given["duration"], product.duration != nil {
            note(
                duration, "has a duration, but is \(kind.rawValue)", "Remove it; only non_renewing products need one",
                .conflict)
        }
        return RegisteredProduct(
            kind: kind, duration: kind == .nonRenewing ? product.duration : nil, entitlements: product.entitlements,
            group: product.group.isEmpty ? nil : ExactText(product.group))
    }
}

/// A key of the App Store Server API, before its file is read.
struct AppStoreKeySettings: Sendable {
    private var issuerID = ""
    private var keyID = ""
    private var file = ""

    private static let table: [Setting<AppStoreKeySettings>] = [
        Setting("issuer_id", "required", "The issuer id in App Store Connect", \.issuerID, .text),
        Setting("key_id", "required", "The id of the key", \.keyID, .text),
        Setting("private_key_file", "required", "The .p8 file of the key, of mode 0600", \.file, .path),
    ]

    static let rows: [Setting<AppSettings>] = [
        Setting(
            "app_store_keys", "none",
            "A list of its keys of the App Store Server API; a second one while the first is replaced",
            inner: Setting<AppStoreKeySettings>.rows(table, below: "[].")
        ) { entry, reader, app in
            var ids: Set<String> = []
            for item in reader.items(entry, "that begin with - issuer_id:") {
                var key = AppStoreKeySettings()
                let given = reader.read(table, item, into: &key)
                for setting in table where given[setting.name] == nil {
                    reader.note(
                        item.place, "a key of \(app.app.id) has no \(setting.name)", "Copy it from App Store Connect",
                        .missing)
                }
                app.app.hasAppStoreKey = true
                if !ids.insert(key.keyID).inserted, !key.keyID.isEmpty {
                    reader.note(
                        item.place, "the app \(app.app.id) has the key \(key.keyID) twice", "Keep one of them",
                        .conflict)
                }
                guard let files = item.files, !key.issuerID.isEmpty, !key.keyID.isEmpty,
                    let file = given["private_key_file"], !key.file.isEmpty
                else { continue }
                do throws(SettingFault) {
                    app.appStoreKeys.append(try key.key(files))
                } catch {
                    reader.note(file, error)
                }
            }
        }
    ]

    /// The key. An error does not repeat the content of the file.
    private func key(_ files: NamedFiles) throws(SettingFault) -> AppStoreServerKey {
        let text = try files.privateKey(file)
        do throws(AppStoreServerKeyError) {
            return try AppStoreServerKey(issuerID: issuerID, keyID: keyID, privateKey: text)
        } catch {
            throw SettingFault("has a wrong key \(keyID): \(error)", "Name the .p8 file of App Store Connect", .file)
        }
    }
}
