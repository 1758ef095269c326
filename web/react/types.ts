import type { HTMLAttributes, ReactElement, Ref } from 'react'
import type { PanelMessages, PanelView, PortolanPanel as PanelElement } from '../panel/types.ts'
import type {
  DispatchOptions,
  Registry,
  RegistryError,
  RegistryOptions,
  Snapshot,
  ToolInfo,
} from '../../wasm/js/shared/types.ts'

/**
 * The registry's state, or what `select` makes of it. The component renders when
 * that has changed: two selections that are equal, or whose members are, count as one.
 * Without a registry the state is empty.
 */
export declare function useRegistry(registry: Registry | null | undefined): Snapshot
export declare function useRegistry<T>(
  registry: Registry | null | undefined,
  select: (snapshot: Snapshot) => T,
  equal?: (a: T, b: T) => boolean,
): T

/**
 * A registry that lives as long as the component: made from the options of the
 * first render, asked for its tools at once, closed on unmount. Other options
 * need another `key`. On a server there is none.
 */
export declare function useMCP(options?: RegistryOptions): UseMCP

/** What {@link useMCP} returns. */
export interface UseMCP {
  /** Undefined until it is there. */
  registry: Registry | undefined
  /** What models may call; `registry.getTools({ format })` has it in their formats. */
  tools: ToolInfo[]
  health: Snapshot['servers']
  /** That of the snapshot; `starting` before, and `failed` if there will be none: `error` says why. */
  status: 'starting' | 'failed' | Snapshot['status']
  error: RegistryError | undefined
  /** As that of the registry; waits for it. */
  dispatch(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<string>
  /** Lists all tools again; waits for the registry. */
  rediscover(names?: string[]): Promise<Snapshot>
}

/**
 * `<portolan-panel>` with its properties as props. `portolan/panel` is loaded with the
 * first one, in the browser; on a server it is an empty element.
 */
export declare function PortolanPanel(props: PortolanPanelProps): ReactElement

/** Props of {@link PortolanPanel}: its properties, handlers for its events, and what every element takes. */
export interface PortolanPanelProps extends Omit<HTMLAttributes<PanelElement>, 'onError'> {
  registry: Registry | null | undefined
  locale?: string
  messages?: PanelMessages
  view?: PanelView
  catalogue?: string
  budget?: number
  /** Another view was chosen. */
  onView?: (view: PanelView) => void
  /** The budget was set. */
  onBudget?: (budget: number) => void
  /** A fault that the panel has shown, or why it could not be loaded. */
  onError?: (error: Error) => void
  ref?: Ref<PanelElement>
}
