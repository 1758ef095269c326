import { html, type LitElement } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import type {
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationUrlRequest,
  SamplingRequest,
  SamplingResult,
} from '../../../wasm/js/shared/types.ts'
import type { WordsContext } from '../context.ts'
import { Queue } from './queue.ts'
import type { Sampling } from './sampling.ts'

/** The questions that an element puts to the person, in dialogs. Each kind has a queue of its own. */
export class Questions {
  private readonly element: LitElement & WordsContext
  private readonly approvals: Queue<ApprovalRequest, Approval>
  private readonly forms: Queue<ElicitationRequest, ElicitationAnswer>
  private readonly addresses: Queue<ElicitationUrlRequest, ElicitationAnswer['action']>
  private readonly samplings: Queue<Sampling, SamplingResult | undefined>
  private dialogs: Promise<unknown> | undefined

  constructor(element: LitElement & WordsContext) {
    const changed = () => element.requestUpdate()
    this.element = element
    this.approvals = new Queue('deny', changed)
    this.forms = new Queue({ action: 'cancel' }, changed)
    this.addresses = new Queue('cancel', changed)
    this.samplings = new Queue(undefined, changed)
  }

  approve(request: ApprovalRequest): Promise<Approval> {
    return this.ask(this.approvals, request)
  }

  elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    return this.ask(this.forms, request)
  }

  async elicitUrl(request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']> {
    return /^https?:/i.test(request.url) && URL.canParse(request.url) ? this.ask(this.addresses, request) : 'decline'
  }

  async sample(
    request: SamplingRequest,
    generate: Sampling['generate'],
    { signal }: { signal: AbortSignal },
  ): Promise<SamplingResult> {
    const answer = await this.ask(this.samplings, { request, generate, signal })
    if (!answer) throw new Error('the user declined')
    return answer
  }

  /** The dialogs of the oldest questions. `behind` is how many wait that the element does not know. */
  view(behind = 0): unknown {
    const { element, approvals, forms, addresses, samplings } = this
    const approval = approvals.first, form = forms.first, address = addresses.first, sampling = samplings.first
    return [
      approval && keyed(
        approval,
        html`<portolan-approve .panel=${element} .request=${approval.request} .more=${approvals.more} @said=${(
          e: CustomEvent<Approval>,
        ) => approval.answer(e.detail)}></portolan-approve>`,
      ),
      form && keyed(
        form,
        html`<portolan-form-question .panel=${element} .request=${form.request} .more=${forms.more + behind} @said=${(
          e: CustomEvent<ElicitationAnswer>,
        ) => form.answer(e.detail)}></portolan-form-question>`,
      ),
      address && keyed(
        address,
        html`<portolan-address-question .panel=${element} .request=${address.request} .more=${
          addresses.more + behind
        } @said=${(e: CustomEvent<ElicitationAnswer['action']>) =>
          address.answer(e.detail)}></portolan-address-question>`,
      ),
      sampling && keyed(
        sampling,
        html`<portolan-sampling-question .panel=${element} .sampling=${sampling.request} .more=${samplings.more}
          @said=${(e: CustomEvent<SamplingResult | undefined>) =>
          sampling.answer(e.detail)}></portolan-sampling-question>`,
      ),
    ]
  }

  /** Ends the questions of an element that has left the document, unless it was only moved. */
  end(): void {
    queueMicrotask(() => {
      if (this.element.isConnected) return
      for (const queue of [this.approvals, this.forms, this.addresses, this.samplings]) queue.end()
    })
  }

  private readonly failed = (fault: unknown): never => {
    this.dialogs = undefined
    throw fault
  }

  /** Asks the person a question. If the element is not in the document, no person can be asked. */
  private async ask<Request extends { signal: AbortSignal }, Answer>(
    queue: Queue<Request, Answer>,
    request: Request,
  ): Promise<Answer> {
    const { element } = this
    // With one promise for all, the questions that wait for it keep their order.
    if (element.isConnected) await (this.dialogs ??= import('./dialogs.ts')).catch(this.failed)
    if (!element.isConnected) return queue.none
    request.signal.addEventListener('abort', () => {
      if (queue.first?.request === request) element.tell(element.words('question_ended'))
    })
    return queue.add(request)
  }
}
