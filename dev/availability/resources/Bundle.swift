// What the package manager generates for a module with resources.

import Foundation

extension Bundle { static var module: Bundle { fatalError() } }
