import type { ModuleHost } from '../shared/types.ts'

/** Runs the module in this realm. Its class is the value of `RegistryOptions.host`. */
export declare const Host: ModuleHost
