import type { ServerConfig } from '../../../wasm/js/shared/types.ts'
import type { PanelContext } from '../context.ts'

/** Whether a server's header values are stored on this device. */
export const isKept = (panel: PanelContext, { rememberSecrets }: ServerConfig): boolean =>
  rememberSecrets ?? panel.registry.rememberSecrets
