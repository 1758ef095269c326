import type { Options, Trouble } from '../messages.ts'
import { Stored } from '../stored.ts'
import { ToolFault } from '../tools/tool.ts'
import type { Answer, Site } from './drivermessages.ts'

const most = 20
const longestText = 4000

/** Bundles about failed runs and suspicious answers. The last ones are kept over restarts. */
export class Troubles extends Stored<Trouble[]> {
  private readonly options: () => Options

  constructor(options: () => Options) {
    super('local', 'troubles', [], undefined, { at: '', code: '' })
    this.options = options
  }

  /** Makes a bundle about a suspicious answer. */
  suspicious(site: Site, question: string, answered: Answer): Trouble {
    const { answer, confidence, evidence, layout, debug } = answered
    const details = { length: answer.length, confidence, evidence, layout }
    return this.add({ site, code: 'SUSPICIOUS_ANSWER', details, debug, question, answer })
  }

  /** Makes a bundle about a failure that is worth one. */
  failed(site: Site, question: string, e: unknown): Trouble | undefined {
    if (!(e instanceof ToolFault) || e.code === 'CANCELLED') return undefined
    const { debug, ...details } = e.details ?? {}
    return this.add({ site, code: e.code, details, debug: debug as Trouble['debug'], question })
  }

  private add({ debug, question, answer, ...rest }: Omit<Trouble, 'id' | 'at'>): Trouble {
    const shown = (text: string) =>
      this.options().debugTexts ? text.slice(0, longestText) : `(${text.length} characters)`
    const trouble: Trouble = {
      id: crypto.randomUUID(),
      at: new Date().toISOString(),
      ...rest,
      ...(debug && { debug }),
      question: shown(question),
      ...(answer !== undefined && { answer: shown(answer) }),
    }
    void this.set([...this.value, trouble].slice(-most))
    return trouble
  }
}

/** Returns a bundle as the text of a file, with the eight debug fields beside the rest. */
export function troubleFile({ debug, ...rest }: Trouble): string {
  return `${JSON.stringify({ ...rest, ...debug }, null, 2)}\n`
}
