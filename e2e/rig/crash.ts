import { createRegistry } from '../../dist/npm/index.js'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'

/** The modules that were started, the last one last, with what Go imports. */
const started: { imports: { gojs: Record<string, (sp: number) => void> } }[] = []
const { instantiate } = WebAssembly
WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: never) => {
  const made = await instantiate(module, imports)
  started.push({ imports })
  return made
}) as never

/** Ends the last module as a crash does: it exits. */
export const endModule = () => started.at(-1)!.imports.gojs['runtime.wasmExit']!(0)

/** A registry, and what ends its module as a crash does: the module exits. */
export async function crashing(
  options: RegistryOptions,
): Promise<{ r: Registry; crash(): Promise<void>; current(): unknown }> {
  const r = await createRegistry({ storage: 'memory', ...options })
  const current = () => started.at(-1)!
  const crash = async () => {
    endModule()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { r, crash, current }
}
