public import Foundation

#if canImport(CryptoKit)
    public import CryptoKit
#else
    public import Crypto
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A store in a file with an HMAC, so that an edited document is detected and not trusted. Evidence is in files of its
/// own beside it, without an HMAC, because Apple signed it.
///
/// On Apple's systems each file is protected until the first unlock of the device, and is part of backups unless the
/// store is told otherwise: in a backup, purchases move along to a new phone.
///
/// The key comes from the caller: on Apple's systems keep a random one in the Keychain. Anyone who has both the file
/// and the key can write anything, and the HMAC does not detect that the file was replaced by an older copy.
public struct FilePurchaseStore: PurchaseStore {
    private let file: URL
    private let key: SymmetricKey
    private let isInBackups: Bool

    /// The first line, before the HMAC in hexadecimal.
    private static let header = "assay-purchases-1 "
    /// Larger than any real record: enough for a thousand waiting purchases with a receipt of 60 kB each.
    private static let largest = 64 << 20

    /// - Parameters:
    ///   - file: the file; its folder must exist.
    ///   - key: the key of the HMAC, of 32 random bytes.
    ///   - isInBackups: whether the files are part of the device's backups, so that a new phone keeps consumables.
    public init(file: URL, key: SymmetricKey, isInBackups: Bool = true) {
        (self.file, self.key, self.isInBackups) = (file, key, isInBackups)
    }

    public func read() throws -> [UInt8]? {
        guard let content = try content(of: file) else { return nil }
        guard content.count <= Self.largest, let end = content.firstIndex(of: UInt8(ascii: "\n")),
            content[..<end].starts(with: Self.header.utf8)
        else { throw PurchaseError(.storeDamaged, found: "\(content.count) bytes without the first line of a store") }
        let document = Array(content[(end + 1)...])
        let stated = Self.bytes(hexadecimal: content[..<end].dropFirst(Self.header.utf8.count))
        // CryptoKit compares in constant time.
        guard let stated, HMAC<SHA256>.isValidAuthenticationCode(stated, authenticating: document, using: key) else {
            throw PurchaseError(.storeDamaged, found: "an HMAC that does not match the key")
        }
        return document
    }

    public func write(_ document: [UInt8]) throws {
        let code = HMAC<SHA256>.authenticationCode(for: document, using: key)
        try replace(file, by: Array("\(Self.header)\(code.hexadecimal)\n".utf8) + document)
    }

    /// Renames a damaged file to one with the ending `damaged`, which replaces an earlier one. The engine then starts
    /// empty: StoreKit delivers unfinished transactions again, a look at the current evidence returns the purchases
    /// that the App Store or the server knows, and balances of a kit without a server are lost.
    public func setAside() throws {
        guard rename(file.path, file.appendingPathExtension("damaged").path) == 0 else {
            throw Self.failure("rename")
        }
        try Self.flush(folder: file.deletingLastPathComponent().path)
    }

    public func evidence(_ name: String) throws -> [UInt8]? { try content(of: place(of: name)) }

    public func keepEvidence(_ evidence: [UInt8], _ name: String) throws {
        try FileManager.default.createDirectory(at: evidenceFolder, withIntermediateDirectories: true)
        try replace(place(of: name), by: evidence)
    }

    public func removeEvidence(_ name: String) throws {
        guard unlink(place(of: name).path) != 0, errno != ENOENT else { return }
        throw Self.failure("remove")
    }

    private var evidenceFolder: URL { file.appendingPathExtension("evidence") }

    private func place(of name: String) -> URL { evidenceFolder.appendingPathComponent(name) }

    private func content(of file: URL) throws -> [UInt8]? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.failure("open") }
            return nil
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            return [UInt8](try handle.read(upToCount: Self.largest + 1) ?? Data())
        } catch {
            throw PurchaseError(.storeFailed, error)
        }
    }

    private func replace(_ file: URL, by content: [UInt8]) throws {
        let partial = file.path + ".new"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("create") }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: Data(content))
            guard Self.flush(descriptor) else { throw Self.failure("write") }
            try handle.close()
        } catch {
            throw PurchaseError(.storeFailed, error)
        }
        try protect(partial)
        guard rename(partial, file.path) == 0 else { throw Self.failure("rename") }
        try Self.flush(folder: file.deletingLastPathComponent().path)
    }

    /// Renewals arrive while the device is locked, but never before its first unlock.
    private func protect(_ path: String) throws {
        #if canImport(Darwin)
            #if !os(macOS)
                try FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
            #endif
            var url = URL(fileURLWithPath: path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = !isInBackups
            try url.setResourceValues(values)
        #endif
    }

    /// On Apple's systems `fsync` leaves the bytes in the drive's cache.
    private static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// A renamed file is durable when its folder is.
    private static func flush(folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder of") }
        defer { close(descriptor) }
        guard flush(descriptor) else { throw failure("flush the folder of") }
    }

    private static func bytes(hexadecimal digits: ArraySlice<UInt8>) -> [UInt8]? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, values.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    private static func failure(_ action: String) -> PurchaseError {
        PurchaseError(.storeFailed, expected: "to \(action) the file", found: String(cString: strerror(errno)))
    }
}

extension Sequence<UInt8> {
    var sha256: [UInt8] { Array(SHA256.hash(data: Data(self))) }
}
