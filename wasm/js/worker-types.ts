import type { ModuleHost } from './index.js'

/** Runs the module in this realm: what `RegistryOptions.host` takes. */
export declare const Host: ModuleHost
