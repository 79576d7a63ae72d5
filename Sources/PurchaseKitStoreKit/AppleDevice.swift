#if canImport(StoreKit)
    import Foundation
    public import PurchaseKit
    public import PurchaseVerification
    import StoreKit

    #if os(watchOS)
        import WatchKit
    #elseif canImport(UIKit)
        import UIKit
    #endif

    /// The identifiers of this device.
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
#endif
