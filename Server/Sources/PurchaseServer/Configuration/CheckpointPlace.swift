public import Foundation

/// A place where checkpoints are published.
public enum CheckpointPlace: Sendable, Equatable {
    /// Every checkpoint, followed by an empty line.
    case standardOutput
    /// The latest checkpoint, in a file that is replaced as a whole.
    case file(String)
    /// The latest checkpoint, by `POST`.
    case url(URL)

    /// Reads `-`, a URL of `http` or `https`, or a path.
    ///
    /// - Returns: `nil` for a URL without a host, for one with a user, for another scheme, and for a path with `@` and
    ///   a colon.
    package init?(_ text: String) {
        if text == "-" {
            self = .standardOutput
        } else if Self.isURL(text) {
            // The URL is in the log and in answers, where a password has no place.
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
                url.user() == nil, url.password() == nil
            else { return nil }
            self = .url(url)
        } else if text.contains("@"), text.contains(":") {
            // A misspelled URL with a password would be printed as the name of a file.
            return nil
        } else {
            self = .file(text)
        }
    }

    /// Whether a text is meant as a URL, so that a misspelled one is not taken for a file.
    static func isURL(_ text: String) -> Bool { text.contains("://") }
}
