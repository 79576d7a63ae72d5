import ArgumentParser

/// The answer to a command that does not exist.
enum CommandSuggestion {
    /// The error in the first argument; `nil` if it is a command or an option.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - commands: the names of the commands.
    static func complaint(_ arguments: some Collection<String>, among commands: [String]) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-"), word != "help", !commands.contains(word) else {
            return nil
        }
        let hint = WordSuggestion.nearest(to: word, among: commands).map { "did you mean '\($0)'? " } ?? ""
        return
            "there is no command '\(word.prefix(WordSuggestion.largestWord))'; \(hint)'assay --help' lists all commands"
    }
}
