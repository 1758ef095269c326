import type {
  ObserveOptions,
  PromptInfo,
  Registry,
  ResourceInfo,
  ResourceTemplateInfo,
  SkillInfo,
  Snapshot,
} from '../../wasm/js/shared/types.ts'
import { DialogPart } from '../ui/dialog.ts'
import { Part, type Panel } from '../ui/part.ts'
import type { SignIns } from './server/sign-ins.ts'
import type { ContactHistory } from './server/history.ts'
import type { Flags } from './tools/flags.ts'
import type { TokenCounts } from './tools/tokens.ts'
import type { Key } from './translations.ts'

/** The services for parts that other elements show too. */
export type WordsContext = Panel<Key>

/** The services for parts that ask the registry. */
export interface RegistryContext extends WordsContext {
  readonly registry: Registry
}

/** The settings panel's services for its parts: the registry, its state, and what only the whole panel can do. */
export interface PanelContext extends RegistryContext {
  readonly snapshot: Snapshot
  readonly history: ContactHistory
  readonly tokenCounts: TokenCounts
  readonly flags: Flags
  readonly signIns: SignIns
  /** The records of the activity beside calls and connections. */
  readonly records: Required<Omit<ObserveOptions, 'logs'>>
  record(records: PanelContext['records']): void
  /** The level of the headings in the panel, below that of the page's heading before it. */
  readonly headingLevel: number
  /** Shows the field for a server's token in its card; undefined hides it. */
  askToken(server: string | undefined): void
  /** Connects to a server again, and says what has come of it. */
  retry(server: string): Promise<void>
  /** Signs in to a server, and says what has come of it. To be called from the click itself. */
  signIn(server: string): Promise<void>
  /** Shows a dialog above those that are open; undefined closes the uppermost. */
  show(dialog: Dialog | undefined): void
  setBudget(tokens: number): void
  /** Shows the tools of one server. */
  showTools(server: string): void
  /** Servers whose removal can still be undone. */
  readonly removing: ReadonlySet<string>
  /** Removes a server. While its notice is shown, the person can undo that. */
  removeServer(server: string): void
  /** Carries out a removal that waits, so that its name is free. */
  settle(): void
}

/** Which dialog is open. */
export type Dialog =
  /** With `copy`, a new server like that one. */
  | { kind: 'edit'; server: string; copy?: boolean }
  | { kind: 'tool'; name: string; tab?: 'about' | 'try' }
  | { kind: 'review'; server: string }
  | { kind: 'resource'; resource: ResourceInfo | ResourceTemplateInfo }
  | { kind: 'prompt'; prompt: PromptInfo }
  /** `approved` is called once a held skill was approved. */
  | { kind: 'skill'; skill: SkillInfo; approved(): void }
  | { kind: 'export' }
  | { kind: 'catalogue' }

/** A part of the settings panel. */
export abstract class PanelPart extends Part<PanelContext> {}

/** A dialog of the settings panel. */
export abstract class PanelDialog extends DialogPart<PanelContext> {
  protected override closed(): void {
    this.panel.show(undefined)
  }
}
