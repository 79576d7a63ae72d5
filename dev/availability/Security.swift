// What the libraries take from Security, declared without an implementation, for dev/availability/compiler.py. Core
// Foundation's types are bridged by name only.

public import Foundation

public typealias OSStatus = Int32

public final class SecKey {}

public struct SecKeyAlgorithm: Sendable {
    public static var rsaSignatureDigestPKCS1v15SHA1: SecKeyAlgorithm { fatalError() }
    public static var rsaSignatureDigestPKCS1v15SHA256: SecKeyAlgorithm { fatalError() }
    public static var rsaSignatureDigestPKCS1v15SHA384: SecKeyAlgorithm { fatalError() }
    public static var rsaSignatureDigestPKCS1v15SHA512: SecKeyAlgorithm { fatalError() }
}

public struct CFErrorReference {}

public func SecKeyCreateWithData(
    _ data: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<CFErrorReference?>?
) -> SecKey? { fatalError() }

public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signed: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<CFErrorReference?>?
) -> Bool { fatalError() }

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { fatalError() }
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { fatalError() }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { 0 }

public var kSecAttrKeyType: CFString { fatalError() }
public var kSecAttrKeyTypeRSA: CFString { fatalError() }
public var kSecAttrKeyClass: CFString { fatalError() }
public var kSecAttrKeyClassPublic: CFString { fatalError() }
public var kSecClass: CFString { fatalError() }
public var kSecClassGenericPassword: CFString { fatalError() }
public var kSecAttrService: CFString { fatalError() }
public var kSecAttrAccount: CFString { fatalError() }
public var kSecAttrAccessGroup: CFString { fatalError() }
public var kSecReturnData: CFString { fatalError() }
public var kSecMatchLimit: CFString { fatalError() }
public var kSecMatchLimitOne: CFString { fatalError() }
public var kSecValueData: CFString { fatalError() }
public var kSecAttrSynchronizable: CFString { fatalError() }
public var kSecAttrAccessible: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlock: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { fatalError() }
// Of the Mac since 10.15, of the other systems since 13 (watchOS 6).
public var kSecUseDataProtectionKeychain: CFString { fatalError() }
