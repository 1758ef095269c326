import type { HTMLAttributes, ReactElement, ReactNode, Ref } from 'react'
import type { PanelMessages, PanelView, PortolanPanel as PanelElement } from '../panel/types.ts'
import type {
  DispatchOptions,
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationUrlRequest,
  Registry,
  RegistryError,
  RegistryOptions,
  Snapshot,
  ToolInfo,
} from '../../wasm/js/shared/types.ts'

/**
 * The registry's state, or what `select` makes of it. The component renders when
 * that has changed: two selections that are equal, or plain objects or arrays whose members
 * are, count as one. For others, such as a `Set`, give `equal`. Without a registry the state is empty.
 */
export declare function useRegistry(registry: Registry | null | undefined): Snapshot
export declare function useRegistry<T>(
  registry: Registry | null | undefined,
  select: (snapshot: Snapshot) => T,
  equal?: (a: T, b: T) => boolean,
): T

/**
 * A registry that lives as long as the component. It is made from the options of the
 * first render, asked for its tools at once, and closed on unmount. Other options
 * need another `key`. On a server there is none.
 */
export declare function useMCP(options?: RegistryOptions): UseMCP

/** The value of {@link useMCP}. */
export interface UseMCP {
  /** Undefined until it is there. */
  registry: Registry | undefined
  /** The tools that models may call; `registry.getTools({ format })` has them in their formats. */
  tools: ToolInfo[]
  health: Snapshot['servers']
  /** That of the snapshot; `starting` before, and `failed` if there will be none: `error` says why. */
  status: 'starting' | 'failed' | Snapshot['status']
  error: RegistryError | undefined
  /** As that of the registry. Waits for it, and until the tool is listed or the first discovery has ended. */
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

/**
 * Questions of servers for a component's users. Give `onElicitation` and `onElicitationUrl` to `useMCP` or
 * `createRegistry`: they stay the same. The questions wait for {@link Elicitation}, oldest first. When the component is
 * unmounted, all are cancelled, and later ones too.
 */
export declare function useQuestions(): Questions

/** The value of {@link useQuestions}. */
export interface Questions {
  /** For the option of `createRegistry` of that name. */
  onElicitation(request: ElicitationRequest): Promise<ElicitationAnswer>
  /** For the option of `createRegistry` of that name. */
  onElicitationUrl(request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']>
  /** The oldest question. */
  current: Question | undefined
  /** The number of questions that wait behind it. */
  more: number
  /** Cancels all. */
  cancel(): void
}

/** A question that waits for its answer. */
export interface Question {
  request: ElicitationRequest | ElicitationUrlRequest
  /** Only the first answer counts. For an address, its `action` is the answer. */
  answer(answer: ElicitationAnswer): void
}

/**
 * Puts the questions of {@link useQuestions} to the user, in the dialogs of the panel. With a function as its child,
 * that renders them. When it is unmounted, all that wait are cancelled.
 */
export declare function Elicitation(props: ElicitationProps): ReactElement | null

/** Props of {@link Elicitation}. */
export interface ElicitationProps {
  questions: Questions
  /** Renders the oldest question. All its texts are the server's: show who asks. */
  children?: (request: Question['request'], answer: Question['answer']) => ReactNode
  /** As those of the panel. */
  locale?: string
  messages?: PanelMessages
  /** The reason why the dialogs could not be loaded. The questions are cancelled then. */
  onError?: (error: Error) => void
}
