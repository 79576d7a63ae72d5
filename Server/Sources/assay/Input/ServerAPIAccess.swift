import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The App Store Server API, as a command calls it on behalf of an app of the settings.
struct ServerAPIAccess: Sendable {
    let client: AppStoreServerClient
    /// The app by its bundle ids; at least one.
    let apps: [AppStoreServerApp]
    let workers = WorkerPool(limit: 4096)

    /// The purchases that a command asks about at the same time. Each takes two calls of some hundred milliseconds, and
    /// Apple accepts 50 of each in a second.
    static let atOnce = 60

    /// - Parameters:
    ///   - app: the name of the app.
    ///   - options: the settings file, which names its keys.
    ///   - trust: the certificates of signed data.
    /// - Throws: `InputError` if the app has no key.
    init(_ app: String, _ options: LedgerDatabaseOptions, _ trust: LedgerTrustOption) throws {
        let configuration = try options.place(options: ["--trust": trust.trust], files: .read).configuration
        let verifier = PurchaseVerifier(anchors: configuration.anchors)
        apps = AppStoreServerApp.all(configuration, verifier).values.filter { $0.name == app }
            .sorted { $0.bundleID < $1.bundleID }
        guard !apps.isEmpty else {
            throw InputError(
                app,
                "the app has no key of the App Store Server API; name it in app_store_keys of the settings file, and "
                    + "that file with --config")
        }
        do {
            var settings = try configuration.appStore.serverAPI()
            settings.callsPerApp = Self.atOnce
            client = try AppStoreServerClient(settings)
        } catch {
            throw InputError("app_store", "\(error)")
        }
    }

    /// The app of a bundle id; the first for one that is not known.
    func app(_ bundleID: String?) -> AppStoreServerApp { apps.first { $0.bundleID == bundleID } ?? apps[0] }

    /// The time that a number of calls takes at least, by Apple's limits, in seconds.
    func seconds<Operation: AppStoreServerOperation>(
        _ calls: Int, of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Double {
        Double(calls) * (client.spacing(of: operation, in: environment) / .seconds(1))
    }

    /// Makes calls until Apple gives an answer.
    ///
    /// - Throws: `AppStoreServerError` if Apple refuses, or gives no answer for a quarter of an hour.
    static func patiently<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        var waited = Duration.zero
        while true {
            do {
                return try await body()
            } catch let error as AppStoreServerError {
                let isLasting = [.refused, .unauthorized, .notConfigured, .cancelled, .otherAnswer, .unverified]
                    .contains(error.code)
                guard !isLasting, !error.isEndless, waited < .seconds(900) else { throw error }
                let pause = min(max(error.retryAfter, .seconds(1)), .seconds(60))
                try await Task.sleep(for: pause)
                waited += pause
            }
        }
    }
}
