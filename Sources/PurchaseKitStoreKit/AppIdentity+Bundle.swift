#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import PurchaseVerification

    extension AppIdentity {
        /// The app with the version of its bundle, so that no build needs an edit. The bundle id stays a literal:
        /// `Info.plist` can be changed on the device together with the receipt, and a version that was changed too
        /// admits only an older receipt of the same app.
        ///
        /// - Parameters:
        ///   - bundleID: the bundle id, as a literal; of an app for Apple Watch with an iPhone app, that of the iPhone
        ///     app.
        ///   - bundle: the bundle of the app, not that of an extension.
        ///   - environments: the accepted environments. TestFlight is `sandbox`.
        public init(
            bundleID: String, bundle: Bundle = .main,
            environments: Set<AppStoreEnvironment> = [.production, .sandbox]
        ) {
            // Receipts of the Mac have the other version (Apple, "App receipt fields").
            #if os(macOS) || targetEnvironment(macCatalyst)
                let key = "CFBundleShortVersionString"
            #else
                let key = "CFBundleVersion"
            #endif
            let version = bundle.object(forInfoDictionaryKey: key) as? String
            self.init(bundleID: bundleID, version: planted("a12d") ? "1.0" : version ?? "", environments: environments)
        }
    }
#endif
