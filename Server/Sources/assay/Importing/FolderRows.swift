import Foundation

/// The files of a folder as rows: one piece of evidence each, named by its customer.
///
/// A file directly in the folder belongs to the customer of its name without the ending; a file in a folder inside
/// belongs to the customer of that folder's name. Symbolic links are refused: they could lead to files that somebody
/// else put there, or to one file for several customers.
struct FolderRows {
    /// The endings that are not part of a customer's name.
    private static let endings: Set<String> = [
        "b64", "base64", "ber", "bin", "der", "jws", "jwt", "p7b", "p7s", "pkcs7", "plist", "receipt", "txt",
    ]

    private let folder: String
    private let files: [String]
    private var position = 0

    /// No files.
    init() { (folder, files) = ("", []) }

    /// The files of a folder, in the order of their paths; `nil` if the path is not a folder.
    ///
    /// - Throws: `InputError` if the folder has no files.
    init?(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        else { return nil }
        folder = path
        files = try InputFolder.files(in: path, listingLinksToFolders: true)
    }

    var share: Double { Double(position) / Double(max(1, files.count)) }

    mutating func next() throws -> ImportRow? {
        guard position < files.count else { return nil }
        let path = files[position]
        position += 1
        guard !InputFolder.isLink(path) else {
            let detail = "is a symbolic link; put the file itself into the folder"
            return ImportRow(place: path, content: .flaw(ImportFlaw(.rowMalformed, detail)))
        }
        do {
            let content = try InputFile.read(path, limit: ImportBytes.rowLimit)
            return ImportRow(
                place: path, content: .fields([.customerID: Array(customer(of: path).utf8), .receiptData: content]))
        } catch let error as InputError {
            // One file that cannot be read does not stop the others.
            return ImportRow(place: path, content: .flaw(ImportFlaw(.rowMalformed, error.reason)))
        }
    }

    private func customer(of path: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let relative = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
        if let slash = relative.firstIndex(of: "/") { return String(relative[..<slash]) }
        let name = relative as NSString
        return Self.endings.contains(name.pathExtension.lowercased()) ? name.deletingPathExtension : relative
    }
}
