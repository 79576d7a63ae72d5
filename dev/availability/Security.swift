// What the libraries take from Security, declared without an implementation, for dev/availability/compiler.py. Core
// Foundation's types are bridged by name only.

public import Foundation

public typealias OSStatus = Int32

public final class SecKey {}

public enum SecKeyAlgorithm: Sendable {
    case rsaSignatureDigestPKCS1v15SHA1, rsaSignatureDigestPKCS1v15SHA256
    case rsaSignatureDigestPKCS1v15SHA384, rsaSignatureDigestPKCS1v15SHA512
}

public struct CFErrorReference {}

public func SecKeyCreateWithData(
    _ data: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<CFErrorReference?>?
) -> SecKey? { fatalError() }
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signed: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<CFErrorReference?>?
) -> Bool { fatalError() }

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }

public let errSecSuccess = OSStatus(), errSecItemNotFound = OSStatus()
public let kSecAttrKeyType = "", kSecAttrKeyTypeRSA = "", kSecAttrKeyClass = "", kSecAttrKeyClassPublic = ""
public let kSecClass = "", kSecClassGenericPassword = "", kSecAttrService = "", kSecAttrAccount = ""
public let kSecReturnData = "", kSecMatchLimit = "", kSecMatchLimitOne = "", kSecValueData = ""
public let kSecAttrSynchronizable = "", kSecAttrAccessible = "", kSecAttrAccessibleAfterFirstUnlock = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = ""
// Of the Mac since 10.15, of the other systems since 13 (watchOS 6).
public let kSecUseDataProtectionKeychain = ""
