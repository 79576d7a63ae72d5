#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import PurchaseVerification
    import StoreKit

    #if canImport(UIKit)
        import UIKit
    #endif
    #if canImport(IOKit)
        import IOKit
        import IOKit.network
    #endif
    #if canImport(Security)
        import Security
    #endif

    /// The app receipt of this device. The refresh may ask the customer for their password.
    ///
    /// On the Mac, an app can also end with the status 173 at launch, whereupon the system fetches a receipt and starts it again.
    /// That is the method of old systems, and is not used here.
    public struct DeviceReceipt: ReceiptSource {
        private let file: URL?
        private let refresher: Refresher

        /// The ways to get a new receipt.
        public enum Refresher: Sendable {
            /// `SKReceiptRefreshRequest`.
            case request
            /// `AppTransaction.refresh()`; the request on systems before iOS 16 and macOS 13.
            case appTransaction

            /// The app transaction on the Mac, the request elsewhere.
            public static var usual: Refresher {
                #if os(macOS)
                    .appTransaction
                #else
                    .request
                #endif
            }
        }

        /// - Parameters:
        ///   - file: the file of the receipt.
        ///   - refresher: how a new receipt is fetched.
        public init(file: URL? = Bundle.main.appStoreReceiptURL, refresher: Refresher = .usual) {
            self.file = file
            self.refresher = refresher
        }

        public func load() async throws -> [UInt8]? {
            guard let file, FileManager.default.fileExists(atPath: file.path) else { return nil }
            return [UInt8](try Data(contentsOf: file))
        }

        public func refresh() async throws {
            if refresher == .appTransaction, #available(iOS 16, macOS 13, *) {
                _ = try await AppTransaction.refresh()
            } else {
                try await ReceiptRefresh().run()
            }
        }

        /// The signed app transaction, which proves the app and its download where there is no receipt; `nil` before iOS 16 and macOS 13.
        /// Give it to `PurchaseEngine.verify(appTransaction:)`.
        public func appTransaction() async throws -> String? {
            guard #available(iOS 16, macOS 13, *) else { return nil }
            return try await AppTransaction.shared.jwsRepresentation
        }
    }

    /// One `SKReceiptRefreshRequest`.
    ///
    /// Unchecked: StoreKit answers once, after `start`.
    private final class ReceiptRefresh: NSObject, SKRequestDelegate, @unchecked Sendable {
        private let request = SKReceiptRefreshRequest(receiptProperties: nil)
        private var continuation: CheckedContinuation<Void, any Error>?

        func run() async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                self.continuation = continuation
                request.delegate = self
                request.start()
            }
        }

        func requestDidFinish(_: SKRequest) {
            continuation?.resume()
            continuation = nil
        }

        func request(_: SKRequest, didFailWithError error: any Error) {
            continuation?.resume(throwing: error)
            continuation = nil
        }
    }

    /// The identifiers of this device.
    @available(iOS 15, macOS 12, *)
    public struct AppleDevice: DeviceIdentity {
        public init() {}

        public func deviceVerificationID() async -> DeviceIdentifier? {
            AppStore.deviceVerificationID.map { DeviceIdentifier(identifierForVendor: $0) }
        }

        #if canImport(UIKit) && !targetEnvironment(macCatalyst)
            /// `nil` before the first unlock of the device.
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                let id = await MainActor.run { UIDevice.current.identifierForVendor }
                return id.map { [DeviceIdentifier(identifierForVendor: $0)] } ?? []
            }
        #elseif canImport(IOKit)
            /// The address of `en0`, then of `en1`, then of every other built-in interface.
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                let interfaces = Self.builtInInterfaces()
                let first = ["en0", "en1"].compactMap { name in interfaces.first { $0.name == name } }
                let others = interfaces.filter { $0.name != "en0" && $0.name != "en1" }
                return (first + others).map { DeviceIdentifier(bytes: $0.address) }
            }

            /// Apple's sample code looks for interfaces by their names, because not every built-in one is of the class
            /// `IOEthernetInterface`.
            private static func builtInInterfaces() -> [(name: String, address: [UInt8])] {
                (0..<32).flatMap { interfaces(named: "en\($0)") }
            }

            private static func interfaces(named name: String) -> [(name: String, address: [UInt8])] {
                var iterator = io_iterator_t()
                let matching = IOBSDNameMatching(kIOMainPortDefault, 0, name)
                guard IOServiceGetMatchingServices(kIOMainPortDefault, matching, &iterator) == KERN_SUCCESS else {
                    return []
                }
                defer { IOObjectRelease(iterator) }
                var found: [(name: String, address: [UInt8])] = []
                while case let service = IOIteratorNext(iterator), service != 0 {
                    defer { IOObjectRelease(service) }
                    func property(_ name: String, _ options: Int) -> Any? {
                        IORegistryEntrySearchCFProperty(
                            service, kIOServicePlane, name as CFString, kCFAllocatorDefault, IOOptionBits(options))
                    }
                    guard property("IOBuiltin", 0) as? Bool == true,
                        let address = property(
                            "IOMACAddress", kIORegistryIterateRecursively | kIORegistryIterateParents) as? Data
                    else { continue }
                    found.append((name, [UInt8](address)))
                }
                return found
            }
        #else
            public func receiptIdentifiers() async -> [DeviceIdentifier] {
                [await deviceVerificationID()].compactMap(\.self)
            }
        #endif
    }

    #if canImport(Security)
        /// A store in the Keychain, which survives the deletion of the app and is not readable on another device.
        public struct KeychainPurchaseStore: PurchaseStore {
            private let service: String
            private let account: String

            /// - Parameters:
            ///   - service: the name of the item, such as the bundle id.
            ///   - account: another name, if the app has several stores.
            public init(service: String, account: String = "purchases") {
                self.service = service
                self.account = account
            }

            public func read() throws -> [UInt8]? {
                var query = item
                query[kSecReturnData as String] = true
                query[kSecMatchLimit as String] = kSecMatchLimitOne
                var result: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &result)
                if status == errSecItemNotFound { return nil }
                guard status == errSecSuccess, let data = result as? Data else { throw Self.failure(status) }
                return [UInt8](data)
            }

            public func write(_ document: [UInt8]) throws {
                let content: [String: Any] = [kSecValueData as String: Data(document)]
                var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
                if status == errSecItemNotFound {
                    var added = item.merging(content) { $1 }
                    // Renewals arrive while the device is locked, but never before its first unlock.
                    added[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                    status = SecItemAdd(added as CFDictionary, nil)
                }
                guard status == errSecSuccess else { throw Self.failure(status) }
            }

            private var item: [String: Any] {
                [
                    kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                    kSecAttrAccount as String: account,
                ]
            }

            private static func failure(_ status: OSStatus) -> PurchaseError {
                PurchaseError(.storeFailed, expected: "the Keychain", found: "status \(status)")
            }
        }
    #endif
#endif
