import { RegistryError } from '../shared/registry-error.ts'

/** Runs an import(). Its failure becomes a load_failed error that names the file. */
export async function imported<T>(file: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw new RegistryError('load_failed', `${file} could not be loaded: ${(cause as Error).message}`, {
      hint: `Serve ${file} beside the script. In a service worker, pass Host from 'portolan/worker' as options.host.`,
      cause,
    })
  }
}

/** Loads at first use. After a failure, the next use loads again: the network may have been away. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () =>
    loaded ??= load().catch((e) => {
      loaded = undefined
      throw e
    })
}
