import type { ModuleHost } from './index.js'

/** Runs the module in this realm: what {@link RegistryOptions.host} takes. */
export declare const Host: ModuleHost
