import type { ModuleHost } from '../shared/types.ts'

/** Runs the module in this realm: what `RegistryOptions.host` takes. */
export declare const Host: ModuleHost
