import type { ElicitEvent } from '../../shared/protocol.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import { isObject } from '../../shared/object.ts'
import type {
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationUrlRequest,
  RegistryOptions,
  SamplingRequest,
  SamplingResult,
} from '../../shared/types.ts'
import { invalidArgumentsError } from '../../shared/wire.gen.ts'
import { validateArguments } from '../validate.ts'

type Handlers = Pick<RegistryOptions, 'onElicitation' | 'onElicitationUrl' | 'onSampling'>

/** The questions of servers that wait for the app's answer. */
export class Questions {
  readonly #handlers: Handlers
  readonly #open = new Map<number, AbortController>()

  constructor(handlers: Handlers) {
    this.#handlers = handlers
  }

  /** Puts a question to the app, or withdraws it; 0: all of them. `about` is what the page knows of its call. */
  async put(
    { ask, request }: ElicitEvent,
    about: Pick<ElicitationRequest, 'tool' | 'callId'> | undefined,
  ): Promise<ElicitationAnswer | SamplingResult | void> {
    if (!request) return ask ? this.#open.get(ask)?.abort() : this.#open.forEach((ends) => ends.abort())
    const ends = new AbortController()
    this.#open.set(ask, ends)
    try {
      const { onElicitation, onElicitationUrl, onSampling } = this.#handlers
      if (request.mode === 'sampling') {
        const { mode: _, ...message } = request
        return await onSampling!({ ...message, ...about } as unknown as SamplingRequest, { signal: ends.signal })
      }
      const question = { ...request, ...about, signal: ends.signal }
      if (request.mode === 'url')
        return { action: await onElicitationUrl!(question as ElicitationUrlRequest) }
      const answer = await onElicitation!(question as ElicitationRequest)
      return checked(answer, request['requestedSchema'])
    } finally {
      this.#open.delete(ask)
    }
  }
}

/** An answer whose content fits the schema. The schema's defaults count as answers. */
function checked(answer: ElicitationAnswer, schema: unknown): ElicitationAnswer {
  const fail = (why: string) => {
    throw new RegistryError('invalid_arguments', `onElicitation: ${why}`, invalidArgumentsError)
  }
  if (!isObject(answer) || !['accept', 'decline', 'cancel'].includes(answer.action))
    fail("the answer's action is none of accept, decline and cancel")
  if (answer.action !== 'accept') return { action: answer.action }
  const { content = {} } = answer
  if (!isObject(content)) fail('content is not an object')
  const properties = Object.entries((schema as { properties?: object } | undefined)?.properties ?? {})
  const defaults = properties.flatMap(([key, p]) => (isObject(p) && 'default' in p ? [[key, p['default']]] : []))
  const problems = validateArguments(schema ?? {}, { ...Object.fromEntries(defaults), ...content })
  if (problems) fail(`content does not fit the schema: ${problems}`)
  return { action: 'accept', content }
}
