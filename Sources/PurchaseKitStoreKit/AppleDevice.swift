#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import PurchaseVerification
    import StoreKit

    #if os(watchOS)
        import WatchKit
    #elseif canImport(UIKit)
        import UIKit
    #endif

    public struct AppleDevice: DeviceIdentity {
        public init() {}

        public func deviceVerificationID() async -> DeviceIdentifier? {
            AppStore.deviceVerificationID.map { DeviceIdentifier(identifierForVendor: $0) }
        }

        #if os(watchOS)
            /// `nil` before the first unlock of the device.
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                let id = await MainActor.run { WKInterfaceDevice.current().identifierForVendor }
                return id.map { [DeviceIdentifier(identifierForVendor: $0)] } ?? []
            }
        #elseif canImport(UIKit) && !targetEnvironment(macCatalyst)
            /// `nil` before the first unlock of the device. An app for iOS that runs on a Mac has the identifier of
            /// iOS, too: its receipt is one of iOS.
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                let id = await MainActor.run { UIDevice.current.identifierForVendor }
                return id.map { [DeviceIdentifier(identifierForVendor: $0)] } ?? []
            }
        #elseif os(macOS) || targetEnvironment(macCatalyst)
            /// The addresses of the network interfaces, the likeliest first.
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                NetworkInterface.likeliestFirst(NetworkInterface.all()).map { DeviceIdentifier(bytes: $0.address) }
            }
        #else
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                [await deviceVerificationID()].compactMap(\.self)
            }
        #endif
    }

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
            self.init(bundleID: bundleID, version: version ?? "", environments: environments)
        }
    }

    #if canImport(Network) && canImport(Security)
        extension PurchaseEngine {
            /// The engine of an app on Apple's systems: with the receipt and the identifiers of the device, the
            /// Keychain, and the moments of the app's life.
            ///
            /// - Parameters:
            ///   - bundleID: the bundle id, as a literal. The version is read from the bundle.
            ///   - queue: `StoreKit2Queue()` or `OriginalQueue()`.
            ///   - server: the purchase server; without one, the device decides alone, and the store is part of
            ///     backups.
            ///   - guestMoves: whether a guest moves to other devices by a backup and iCloud Keychain.
            ///   - offline: how long the server's last answer counts without a newer one.
            ///   - lengths: how long each non-renewing subscription lasts, without a server.
            ///   - startsAsGuest: whether the customer is a guest until somebody signs in.
            public init(
                bundleID: String, queue: any PaymentQueue, server: PurchaseConnection?, guestMoves: Bool = true,
                offline: OfflineLimit = OfflineLimit(), lengths: [String: PurchasePeriod] = [:],
                startsAsGuest: Bool = false
            ) {
                self.init(
                    queue: queue, receipts: DeviceReceipt(),
                    verifier: DeviceVerifier(app: AppIdentity(bundleID: bundleID), device: AppleDevice()),
                    server: server,
                    // Without a server only the store has the consumables, so a new phone must get it from the backup.
                    store: KeychainPurchaseStore(
                        service: bundleID, movesAlong: server == nil, guestMoves: guestMoves), life: AppleAppLife(),
                    offline: offline, lengths: lengths, startsAsGuest: startsAsGuest)
            }
        }
    #endif
#endif
