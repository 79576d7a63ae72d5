import Foundation
import PurchaseServer

extension NamedFiles {
    /// Reads the files that settings name from the disk.
    static let read = NamedFiles { path throws(SettingFault) in
        do {
            return try TrustFile.namedAnchors(path)
        } catch {
            throw SettingFault("'\(path)': \(reason(error))", "Name a certificate in DER or PEM")
        }
    } secret: { path throws(SettingFault) in
        do {
            return try SecretFile.secret(path)
        } catch {
            throw SettingFault(
                "cannot be read: \(reason(error))",
                "Name a file that holds the shared secret of App Store Connect, and nothing else")
        }
    } privateKey: { path throws(SettingFault) in
        do {
            return try SecretFile.privateKey(path)
        } catch {
            throw SettingFault("'\(path)': \(reason(error))", "Name the .p8 file of App Store Connect, of mode 0600")
        }
    } bytes: { path throws(SettingFault) in
        do {
            return try InputFile.read(path)
        } catch {
            throw SettingFault("'\(path)': \(reason(error))", "Name a file that can be read")
        }
    } variable: { name in
        ProcessInfo.processInfo.environment[name]
    }

    private static func reason(_ error: any Error) -> String {
        (error as? InputError)?.reason ?? "\(error)"
    }
}
