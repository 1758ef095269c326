import type { Requests } from '../requests.ts'
import { checkFields } from '../../shared/fields.ts'
import type { Begun, Called } from '../../shared/protocol.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type { Snapshot, TaskHandle, TaskInfo, ToolResult, WaitOptions } from '../../shared/types.ts'
import { originAt } from './offered.ts'

/** The registry, as far as the part uses it. */
interface TaskSource {
  requests: Requests
  /** Makes the result of an answer. */
  take(answer: Called): Promise<ToolResult>
  /** The stored tasks, after a change of them. Absent if another realm owns the registry. */
  stored: ((change?: (tasks: TaskInfo[]) => TaskInfo[]) => Promise<TaskInfo[]>) | undefined
  snapshot(): Snapshot
}

/** The most tasks that are stored. The oldest go first. */
const MOST = 100

/** Codes of a task that is over, or of which nothing can be learned any more. */
const over = ['gone', 'server_error', 'unknown_server', 'unsupported']

const same = (a: TaskInfo, b: TaskInfo) => a.taskId === b.taskId && a.server === b.server

/** Whether the server may have forgotten the task. */
const expired = (t: TaskInfo) => t.expiresAt !== undefined && t.expiresAt <= Date.now()

/** Calls that servers have made tasks of, and that nobody has to wait for. */
export class Tasks {
  readonly #source: TaskSource

  constructor(source: TaskSource) {
    this.#source = source
  }

  /** The handle of a detached call. A server may have answered at once, without a task. */
  async begun(answer: Begun | Called, take: (answer: Called) => Promise<ToolResult>): Promise<TaskHandle> {
    const { server, tool } = answer
    const startedAt = Date.now()
    if (!('task' in answer)) {
      const result = take(answer)
      result.catch(() => {}) // until somebody waits
      return { server, tool, taskId: '', status: 'completed', startedAt, wait: () => result, cancel: async () => {} }
    }
    const { taskId, status, ttl, ttlMs: lives = ttl } = answer.task
    const info: TaskInfo = {
      server,
      tool,
      taskId,
      status,
      startedAt,
      origin: originAt(this.#source, server),
      ...(typeof lives === 'number' && { expiresAt: startedAt + lives }),
    }
    await this.#source.stored?.((tasks) => [...tasks.filter((t) => !same(t, info) && !expired(t)), info].slice(-MOST))
    return this.#handle(info)
  }

  /** The tasks that are not over, as far as it is known. */
  async list(): Promise<TaskHandle[]> {
    const { stored, requests } = this.#source
    const known = stored
      ? (await stored()).filter((t) => !expired(t) && t.origin === originAt(this.#source, t.server))
      : await requests.ask<TaskInfo[]>({ method: 'tasks' })
    return known.map((t) => this.#handle(t))
  }

  #handle(info: TaskInfo): TaskHandle {
    const { server: name, tool, taskId } = info
    const forget = () => this.#source.stored?.((tasks) => tasks.filter((t) => !same(t, info)))
    const details = { server: name, hint: 'Call the tool again.' }
    /** A later server of that name, elsewhere, does not get the task's id. */
    const check = () => {
      if (info.origin !== originAt(this.#source, name))
        throw new RegistryError('server_removed', 'the server with the task is there no longer', details)
    }
    return {
      ...info,
      wait: async (options: WaitOptions = {}) => {
        checkFields('wait', options, 'signal onProgress callId')
        if (expired(info)) throw new RegistryError('gone', 'the server keeps the task no longer', details)
        check()
        const { callId } = options
        try {
          const answer = await this.#source.requests.ask<Called>(
            { method: 'waitTask', name, tool, taskId, callId },
            { ...options, about: { tool, callId } },
          )
          await forget()
          return await this.#source.take(answer)
        } catch (e) {
          if (over.includes((e as RegistryError).code)) await forget()
          throw e
        }
      },
      cancel: async () => {
        check()
        await this.#source.requests.ask({ method: 'cancelTask', name, taskId })
        await forget()
      },
    }
  }
}
