// Browsers, workers, and every host that is nothing else: the modules come as bytes in the bundle.
export { version } from "./generated/version.js";
export { blocking, lease, nativeCell, nodeOfEnvironment, renewalMs, sleep } from "./host.inert.js";
export { formsModule, inspectModule, mintModule } from "./packed.js";
