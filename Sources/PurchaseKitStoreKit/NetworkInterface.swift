#if canImport(StoreKit)
    import Foundation

    #if os(macOS) || targetEnvironment(macCatalyst)
        import IOKit
    #endif

    /// A network interface of a Mac. The address of one of them is in the device hash of a Mac's receipts.
    struct NetworkInterface: Equatable {
        let name: String
        let isBuiltIn: Bool
        let address: [UInt8]

        /// The order of Apple's sample code: the built-in `en0`, the built-in `en1`, and `en0` that is not built in, as
        /// on a Mac whose only interface is an adapter. After them come the other built-in ones: on a Mac with a new
        /// board, the interface can be `en11`.
        static func likeliestFirst(_ interfaces: [NetworkInterface]) -> [NetworkInterface] {
            let builtIn = interfaces.filter(\.isBuiltIn)
            let first = ["en0", "en1"].flatMap { name in builtIn.filter { $0.name == name } }
            let added = interfaces.filter { $0.name == "en0" && !$0.isBuiltIn }
            return first + added + builtIn.filter { $0.name != "en0" && $0.name != "en1" }
        }

        #if os(macOS) || targetEnvironment(macCatalyst)
            /// By their names, as in Apple's sample code: not every one is of the class `IOEthernetInterface`.
            static func all() -> [NetworkInterface] { (0..<32).flatMap { named("en\($0)") } }

            /// Several devices can have the name: AirPlay adds one without an address.
            private static func named(_ name: String) -> [NetworkInterface] {
                var iterator = io_iterator_t()
                let matching = IOBSDNameMatching(kIOMainPortDefault, 0, name)
                guard IOServiceGetMatchingServices(kIOMainPortDefault, matching, &iterator) == KERN_SUCCESS else {
                    return []
                }
                defer { IOObjectRelease(iterator) }
                var found: [NetworkInterface] = []
                while case let service = IOIteratorNext(iterator), service != 0 {
                    defer { IOObjectRelease(service) }
                    func property(_ name: String, _ options: Int) -> Any? {
                        IORegistryEntrySearchCFProperty(
                            service, kIOServicePlane, name as CFString, kCFAllocatorDefault, IOOptionBits(options))
                    }
                    guard
                        let address = property(
                            "IOMACAddress", kIORegistryIterateRecursively | kIORegistryIterateParents) as? Data
                    else { continue }
                    let isBuiltIn = property("IOBuiltin", 0) as? Bool ?? false
                    found.append(NetworkInterface(name: name, isBuiltIn: isBuiltIn, address: [UInt8](address)))
                }
                return found
            }
        #endif
    }
#endif
