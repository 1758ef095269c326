import { removePermissions, requestPermissions, type Wanted } from '../browser.ts'
import { RequestError } from './store.ts'

/**
 * Asks the browser for a permission; must be the first thing that a click does.
 * A browser that cannot even ask is said by `permission_impossible`.
 */
export async function permit(wanted: Wanted): Promise<boolean> {
  try {
    return await requestPermissions(wanted)
  } catch (e) {
    throw new RequestError('permission_impossible', (e as Error).message)
  }
}

/** Gives a permission back. Whether the browser had it does not matter. */
export async function giveBack(wanted: Wanted): Promise<void> {
  await removePermissions(wanted).catch(() => false)
}
