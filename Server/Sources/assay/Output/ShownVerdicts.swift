/// The verdicts that are written.
enum ShownVerdicts {
    case all, rejected, none
}
