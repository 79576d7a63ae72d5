import AppStoreConnection
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Whether the App Store accepts the keys of the apps, and this machine's clock is as Apple's.
struct AppStoreExamination {
    let configuration: ServerConfiguration
    /// The seconds by which the clock is ahead of Apple's, as the running server knows.
    let knownSkew: Double?

    /// - Parameter isAsking: whether the App Store is asked to send a test notification for each bundle id.
    func findings(isAsking: Bool) async -> [DoctorFinding] {
        let apps = AppStoreServerApp.all(configuration, PurchaseVerifier(anchors: configuration.anchors)).values
            .sorted { $0.bundleID < $1.bundleID }
        guard isAsking, !apps.isEmpty else {
            return clock(knownSkew)
                + apps.map { app in
                    .warning(
                        .appStore, "\(app.bundleID) has \(counted(app.keys.count, "key")), not tried yet",
                        do: "Run it with --ask-apple before going live: it has a test notification sent.")
                }
        }
        let client: AppStoreServerClient
        do {
            client = try AppStoreServerClient(try configuration.appStore.serverAPI())
        } catch {
            return [.failed(.appStore, "\(error)", do: "Correct app_store in the settings.")]
        }
        var findings: [DoctorFinding] = []
        for app in apps {
            findings.append(await ask(client, app))
        }
        do {
            try await client.shutdown()
        } catch {
            findings.append(.warning(.appStore, "closing the connections failed: \(error)", do: "Run it again."))
        }
        return clock(client.skew.seconds ?? knownSkew) + findings
    }

    private func clock(_ skew: Double?) -> [DoctorFinding] {
        guard let skew else { return [] }
        let found = ClockSkew.sentence(skew)
        guard abs(skew) > ClockSkew.tolerance else { return [.fine(.clock, found)] }
        let action = "Synchronize this machine's clock (NTP): Apple refuses tokens from the future with 401."
        return [
            abs(skew) < Double(AppStoreServerKey.backdating)
                ? .warning(.clock, found, do: action) : .failed(.clock, found, do: action)
        ]
    }

    private func ask(_ client: AppStoreServerClient, _ app: AppStoreServerApp) async -> DoctorFinding {
        do throws(AppStoreServerError) {
            let answer = try await client.call(RequestTestNotification(), for: app)
            return .fine(
                .appStore,
                "\(app.bundleID): \(answer.environment.rawValue) sends the test notification "
                    + answer.value)
        } catch {
            return .failed(
                .appStore, "\(app.bundleID): \(error)",
                do: "Correct issuer_id, key_id, private_key_file and bundle_ids, or enter the URL of notifications in "
                    + "App Store Connect.")
        }
    }
}
