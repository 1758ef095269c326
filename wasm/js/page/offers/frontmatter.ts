import { CORE_SCHEMA, load } from 'js-yaml'
import { isObject } from '../../shared/object.ts'

/** The most characters of a frontmatter. */
const MOST = 64 << 10

/** The block between the two lines of three hyphens at the start of a SKILL.md. */
const block = /^---[ \t]*\r?\n([^]*?\r?\n)---[ \t]*(?:\r?\n|$)/

/**
 * The difference of the frontmatter of a SKILL.md from the skill's entry; undefined: none. The comparison walks
 * the entry, whose size is bounded, so that aliases of YAML cost nothing.
 */
export function frontmatterFault(text: string, entry: Record<string, unknown>): string | undefined {
  const yaml = block.exec(text.slice(0, MOST))?.[1]
  if (yaml === undefined) return 'SKILL.md does not begin with a frontmatter'
  let own: unknown
  try {
    own = load(yaml, { schema: CORE_SCHEMA })
  } catch { // also a RangeError, of a deep one
    return 'the frontmatter of SKILL.md is no YAML'
  }
  return isSame(own, entry) ? undefined : "the frontmatter of SKILL.md is not that of the skill's entry"
}

/** Whether a value of YAML is the value of JSON. */
function isSame(own: unknown, entry: unknown): boolean {
  if (Array.isArray(entry))
    return Array.isArray(own) && own.length === entry.length && entry.every((v, i) => isSame(own[i], v))
  if (!isObject(entry)) return own === entry
  const keys = Object.keys(entry)
  return isObject(own) && Object.keys(own).length === keys.length &&
    keys.every((key) => Object.hasOwn(own, key) && isSame(own[key], entry[key]))
}
