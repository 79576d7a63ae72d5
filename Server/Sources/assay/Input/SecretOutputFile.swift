import Foundation

/// A new file for a secret, which only its owner may read from the moment it exists.
struct SecretOutputFile {
    let path: String
    private let handle: FileHandle

    /// Creates the file with mode 0600, and only if nothing has its name, not even a link.
    init(creating path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == EEXIST ? "exists already; choose another name" : String(cString: strerror(errno))
            throw InputError(path, reason)
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes the secret and flushes it to the disk.
    func write(_ text: String) throws {
        do {
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
        } catch {
            throw InputError(path, "cannot be written")
        }
    }

    /// Removes the file again if there is no secret to store in it.
    func remove() {
        unlink(path)
    }
}
