import { checkNames } from '../checkrequest.ts'
import type * as types from '../../shared/types.ts'

/** The condition of a filter. */
export function filterFor({ servers, include, exclude }: types.ToolFilter): (tool: types.ToolInfo) => boolean {
  checkNames('servers', servers)
  checkNames('include', include)
  checkNames('exclude', exclude)
  return (t) =>
    !(servers && !servers.includes(t.server) || include && !matches(include, t.name) ||
      exclude && matches(exclude, t.name))
}

/** Whether a pattern is a name, or its beginning and `*`. */
export const matchesOne = (pattern: string, name: string): boolean =>
  pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))

export function matches(patterns: string[], name: string): boolean {
  return patterns.some((p) => matchesOne(p, name))
}
