#if canImport(StoreKit)
    public import PurchaseKit
    public import PurchaseVerification
    import StoreKit

    /// The signed app transaction of this device, and what StoreKit thinks of it.
    public struct DeviceAppTransaction: Sendable {
        /// The app transaction, as Apple signed it.
        public let signed: String
        /// Whether StoreKit returned it as `verified`, which includes a comparison with the device.
        public let isVerifiedByStoreKit: Bool

        /// Generic, because `StoreKit.AppTransaction` is newer than this type.
        init<Signed>(_ result: VerificationResult<Signed>, signed: String) {
            self.signed = signed
            switch result {
            case .verified: isVerifiedByStoreKit = true
            case .unverified: isVerifiedByStoreKit = false
            }
        }
    }

    extension PurchaseEngine {
        /// Checks the app transaction as an app does at its launch, without network. On a device that has no identifier
        /// (`AppStore.deviceVerificationID` is `nil`), one that StoreKit verified counts.
        ///
        /// - Throws: `PurchaseError`: why it is not accepted.
        @discardableResult
        public func verify(_ appTransaction: DeviceAppTransaction) async throws -> SignedAppTransaction {
            try await verify(
                appTransaction: appTransaction.signed, isVerifiedByStoreKit: appTransaction.isVerifiedByStoreKit)
        }
    }
#endif
