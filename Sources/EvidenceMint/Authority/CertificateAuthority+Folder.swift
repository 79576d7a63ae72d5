public import Foundation

extension CertificateAuthority {
    /// An authority that is made once and kept in a folder: `root.der`, `root.pem`, `intermediate.der`, `leaf.der`,
    /// and the keys `root.key.pem`, `intermediate.key.pem`, `leaf.key.pem`, which only their owner may read.
    ///
    /// If several processes start at once, one of them makes the authority and all of them use it. The folder of an
    /// `AppStoreAuthority` has the same files, so this also reads its authority of receipts.
    /// - Parameter folder: the path of the folder. It may be missing or empty, but not a mount point, because it is put
    ///   in place as a whole by renaming another folder.
    /// - Throws: `MintError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited {
            try store.publish(try CertificateAuthority().folderContent)
        }
        // The folder is always read back: if two processes made one at once, only its content counts.
        try self.init(store)
    }

    /// Reads the content of the folder.
    init(_ store: IdentityFolder) throws {
        self.init(
            root: try store.identity("root"),
            intermediate: try store.identity("intermediate"),
            leaf: try store.identity("leaf")
        )
    }

    /// The root first, which is the trust anchor.
    var folderContent: IdentityFolder.Content {
        IdentityFolder.Content(
            anchors: [("root", root)], identities: [("intermediate", intermediate), ("leaf", leaf)]
        )
    }
}
