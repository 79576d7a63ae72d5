#if canImport(StoreKit) && canImport(Network) && canImport(Security)
    public import PurchaseKit
    import PurchaseVerification

    extension PurchaseEngine {
        /// The engine of an app on Apple's systems: with the receipt and the identifiers of the device, the Keychain,
        /// and the moments of the app's life.
        ///
        /// - Parameters:
        ///   - bundleID: the bundle id, as a literal. The version is read from the bundle.
        ///   - queue: `StoreKit2Queue()` or `OriginalQueue()`.
        ///   - server: the purchase server; without one, the device decides alone, and the store is part of backups.
        public init(bundleID: String, queue: any PaymentQueue, server: PurchaseConnection?) {
            self.init(
                queue: queue, receipts: DeviceReceipt(),
                verifier: DeviceVerifier(app: AppIdentity(bundleID: bundleID), device: AppleDevice()), server: server,
                // Without a server only the store has the consumables, so a new phone must get it from the backup.
                store: KeychainPurchaseStore(service: bundleID, movesAlong: server == nil), life: AppleAppLife())
        }
    }
#endif
