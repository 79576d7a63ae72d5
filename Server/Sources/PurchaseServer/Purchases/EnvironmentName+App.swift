import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

extension EnvironmentName {
    /// The environment, if the app accepts its evidence. An order or a grant in any other environment would never
    /// count.
    func accepted(by app: RegisteredApp) throws(Problem) -> AppStoreEnvironment { try one(of: app.environments) }

    /// The environment of something that exists: one of Apple's, or another one that the app accepts. The settings can
    /// have changed since.
    func known(to app: RegisteredApp) throws(Problem) -> AppStoreEnvironment { try one(of: app.knownEnvironments) }

    private func one(of environments: Set<AppStoreEnvironment>) throws(Problem) -> AppStoreEnvironment {
        let environment = AppStoreEnvironment(anyCase: rawValue)
        guard environments.contains(environment) else {
            throw Problem.parameter(
                "environment", environments.map(\.name).sorted().joined(separator: ", "), found: rawValue)
        }
        return environment
    }
}

extension RegisteredApp {
    fileprivate var knownEnvironments: Set<AppStoreEnvironment> { environments.union([.production, .sandbox, .xcode]) }
}
