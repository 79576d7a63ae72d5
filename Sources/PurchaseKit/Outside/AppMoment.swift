/// A moment at which newer facts may be available.
public enum AppMoment: Sendable, Equatable {
    case foreground
    case network
}
