#include "LibFuzzer.h"

// A target of C needs a source; there is nothing to say here.
