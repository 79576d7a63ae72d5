import PurchaseLedger
import PurchaseVerification
import Yams

/// How an app's events of Stripe are verified and read.
package struct StripeSettings: Sendable, Equatable {
    /// The signing secrets of its webhook endpoints, of which one must have signed.
    package var secrets: [String] = []
    /// The products by the ids of Stripe's prices; `nil` for a price that gives nothing here.
    package var products: [String: String?] = [:]

    /// The most secrets: those of the live mode and of the test mode, each with the next one.
    private static let mostSecrets = 4

    package init(secrets: [String] = [], products: [String: String?] = [:]) {
        (self.secrets, self.products) = (secrets, products)
    }

    static let rows: [Setting<AppSettings>] = [
        Setting(
            "grounds.stripe.secret_file", "none",
            "The file with the signing secrets of its webhook endpoints at Stripe, one a line, of mode 0600 (ledger.md)"
        ) { entry, _, app throws(SettingFault) in
            app.stripe = app.stripe ?? StripeSettings()
            let path = entry.path(try entry.text())
            guard let files = entry.files else { return }
            let text: String
            do throws(SettingFault) {
                text = try files.privateKey(path)
            } catch {
                throw SettingFault(
                    error.fault, "Name the file with the signing secrets of the endpoint at Stripe, of mode 0600",
                    error.code)
            }
            let secrets = text.split(whereSeparator: \.isWhitespace).map(String.init)
            guard (1...mostSecrets).contains(secrets.count),
                secrets.allSatisfy({ $0.hasPrefix("whsec_") && $0.utf8.count >= 24 })
            else {
                throw SettingFault(
                    "has no signing secrets of Stripe",
                    "Write whsec_… from the page of the endpoint, one a line, \(mostSecrets) at most", .file)
            }
            app.stripe?.secrets = secrets
        },
        Setting(
            "grounds.stripe.products", "none",
            "Its products by the ids of Stripe's prices; null for a price that gives nothing here"
        ) { entry, reader, app throws(SettingFault) in
            for price in reader.entries(entry) {
                guard price.node.null == nil else {
                    app.stripe?.products[price.key] = .some(nil)
                    continue
                }
                let product = try price.text()
                guard let kind = app.app.products[product]?.kind, kind != .consumable else {
                    reader.note(
                        price,
                        SettingFault(
                            "names '\(product.prefix(200))', which is a consumable or not in products",
                            "Name a product of \(app.app.id) that is not a consumable"))
                    continue
                }
                app.stripe?.products[price.key] = product
            }
            guard app.stripe != nil else {
                throw SettingFault(
                    "has no secret to verify the events with", "Add secret_file beside it", .missing)
            }
        },
    ]
}
