import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// The policies and trust anchors of `verify` and `inspect`.
struct VerificationOptions: ParsableArguments {
    @Option(help: "The bundle id that the receipt must belong to.") var bundleID: String?
    @Option(help: "The app version that the receipt must belong to.") var appVersion: String?

    @Option(
        name: .long,
        help: "The device that the receipt must be made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(help: "The transaction that the evidence must prove.") var transactionID: String?
    @Option(help: "The product of that transaction.") var productID: String?

    @Option(
        name: .long,
        help: "An environment to accept: Production, Sandbox, Xcode or another name. Repeat for several.")
    var environment: [AppStoreEnvironment] = []

    @Option(
        name: .long,
        help: "A certificate to trust besides Apple's roots, in DER, or several in PEM. Repeat for several files.")
    var trust: [String] = []

    @Option(
        name: .long, help: "The time at which the receipt is used, such as 2026-01-31T12:00:00Z; now, if not given.")
    var at: AppStoreTime?

    /// The time at which the evidence is used.
    var moment: AppStoreTime { at ?? AppStoreTime(Date()) }

    func validate() throws {
        guard productID == nil || transactionID != nil else {
            throw ValidationError("'--product-id' says of which product '--transaction-id' is; name both.")
        }
    }

    /// The verifier, with Apple's roots and the certificates that were named.
    func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try TrustFile.anchors(trust))
    }

    /// The policies, in the order of their checks.
    func policies() -> [any PurchasePolicy] {
        let accepted: Set<AppStoreEnvironment> = environment.isEmpty ? [.production, .sandbox] : Set(environment)
        var policies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: accepted)]
        if let bundleID { policies.append(BundleIDPolicy(bundleID)) }
        if let appVersion { policies.append(ApplicationVersionPolicy(appVersion)) }
        if let deviceID { policies.append(DeviceHashPolicy(deviceID)) }
        if let transactionID {
            policies.append(TransactionPolicy(TransactionFacts(transactionID: transactionID, productID: productID)))
        }
        policies.append(ExpirationPolicy(at: moment))
        return policies
    }

    /// The checks that were not made, in words, with the option for each.
    var uncheckedDemands: [String] {
        var unchecked: [String] = []
        if bundleID == nil { unchecked.append("bundle id (--bundle-id)") }
        if appVersion == nil { unchecked.append("app version (--app-version)") }
        if deviceID == nil { unchecked.append("device (--device-id)") }
        return unchecked
    }
}
