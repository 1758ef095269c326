// The rights of an app: its Content-Security-Policy, and the features of its frame.

/** `_meta.ui.csp` of a resource (MCP Apps, 2026-01-26), as a server sent it. */
export type Csp = Partial<Record<'connectDomains' | 'resourceDomains' | 'frameDomains' | 'baseUriDomains', unknown>>

/** Origins of one kind that count. The rest is left out. */
const most = 50

// A source that passes has no space, comma, semicolon or quotation mark, so that it cannot add a directive.
const far = /^(?:https|wss):\/\/(?:\*\.)?[a-z\d-]+(?:\.[a-z\d-]+)+(?::\d{1,5})?(?:\/[\w./~-]*)?$/i
const near = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\/?$/i

/** The sources of a list that a policy can name. Those of this machine count only for a page of this machine. */
function sources(list: unknown, isLocal: boolean): string {
  if (!Array.isArray(list)) return ''
  return list.filter((s) => typeof s === 'string' && s.length < 300 && (far.test(s) || (isLocal && near.test(s))))
    .slice(0, most).join(' ')
}

/**
 * The policy of an app. An undeclared source is denied. Scripts and styles in its own html run, also those of its
 * data and blob addresses, without eval.
 */
export function policyOf(csp: Csp | undefined, isLocal: boolean): string {
  const [connect, resource, frame, base] =
    (['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const)
      .map((kind) => sources(csp?.[kind], isLocal)) as [string, string, string, string]
  return [
    `default-src 'none'`,
    `script-src 'unsafe-inline' data: blob: ${resource}`,
    `worker-src data: blob: ${resource}`,
    `style-src 'unsafe-inline' ${resource}`,
    `img-src data: blob: ${resource}`,
    `media-src data: blob: ${resource}`,
    `font-src data: ${resource}`,
    `connect-src ${connect || `'none'`}`,
    `frame-src ${frame || `'none'`}`,
    `base-uri ${base || `'none'`}`,
    `form-action 'none'`,
    `object-src 'none'`,
  ].map((directive) => directive.trim()).join('; ')
}

/** The features that an app may ask for, and their names in the attribute `allow` of a frame. */
export const features = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
} as const

export type Feature = keyof typeof features

/** The features that `_meta.ui.permissions` names. */
export const featuresIn = (permissions: unknown): Feature[] =>
  typeof permissions === 'object' && permissions
    ? (Object.keys(features) as Feature[]).filter((name) => Object.hasOwn(permissions, name))
    : []
