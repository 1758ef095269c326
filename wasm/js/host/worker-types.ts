import type { ModuleHost } from '../page/index.ts'

/** Runs the module in this realm: what `RegistryOptions.host` takes. */
export declare const Host: ModuleHost
