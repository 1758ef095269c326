import type { ModuleHost } from '../page/index.js'

/** Runs the module in this realm: what `RegistryOptions.host` takes. */
export declare const Host: ModuleHost
