#if canImport(StoreKit)
    import Foundation
    public import PurchaseKit

    #if canImport(Security)
        import Security
    #endif

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
