#if NEXT_RELEASE
    import ArgumentParser
    import PurchaseLedger

    /// `assay note-next-release NOTE`, only in a program that tests upgrades: writes an entry of a kind that the
    /// release before does not know.
    struct NoteNextReleaseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "note-next-release", shouldDisplay: false)

        @Argument var note: String
        @OptionGroup var options: LedgerDatabaseOptions

        func run() async throws {
            try await options.withLedger { try await $0.perform(NoteNextRelease(note: note)) }
        }
    }
#endif
