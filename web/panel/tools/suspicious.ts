import { hiddenAt, isHidden, isTag, line } from '../text.ts'

// Words are few and bounded, so that each pattern takes linear time.
const patterns: [why: string, RegExp][] = [
  ['override', /\b(?:ignore|disregard|forget|override|bypass)\s(?:\w{1,20}\s){0,4}(?:previous|prior|above|earlier|preceding|other|system|all)\s(?:\w{1,20}\s){0,3}(?:instruction|prompt|rule|message|guideline|direction|polic)/i],
  ['secrecy', /\b(?:do\snot|don['’]?t|never|without)\s(?:\w{1,20}\s){0,3}(?:tell|mention|inform|notify|reveal|disclose|telling|mentioning|informing|notifying)\s(?:\w{1,20}\s){0,4}(?:user|human|person|anyone)|\b(?:hide|conceal|keep)\s(?:\w{1,20}\s){0,4}(?:from|secret\sfrom)\sthe\suser/i],
  ['pseudo_tag', /<\/?\s?(?:important|system|secret|instructions?|admin|assistant|critical|hidden|override|urgent)\b[^<>]{0,40}>|<\|(?:im_start|im_end|system|endoftext)\|>|\[\/?(?:INST|SYSTEM)\]/i],
  ['path', /(?:~|\$home|%userprofile%|\/root|\/home\/\w{1,30})[\\/]\.(?:ssh|aws|gnupg|kube|netrc|npmrc|docker|cursor|claude|config[\\/]gcloud)|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)\b|(?:^|[\s/'"`])\.env\b(?![.\w])|\bclaude_desktop_config\b/i],
  ['exfil', /https?:\/\/[^\s"'<>?]{1,200}\?[^\s"'<>]{0,100}=(?:\{|\$\{|<|%7b)|!\[[^\]]{0,100}\]\(https?:|\bdata:(?:text|application)\/[\w.+-]{1,50}[;,]/i],
]

/** The most telling thing in a text of a definition. */
export function suspicionIn(text: string): { why: string; excerpt: string } | undefined {
  const at = /[^\x20-\x7e]/.test(text) ? hiddenAt(text) : -1
  if (at >= 0) return { why: kindOf(text, at), excerpt: around(text, at) }
  const plain = text.replace(/\s+/g, ' ')
  for (const [why, pattern] of patterns) {
    const m = pattern.exec(plain)
    if (m) return { why, excerpt: around(plain, m.index) }
  }
  return undefined
}

function kindOf(text: string, at: number): string {
  const c = text.codePointAt(at)!
  if (isTag(c) || c === 0xe0001 || (c >= 0xe0100 && c <= 0xe01ef)) return 'tags'
  if (c === 0x1b || c === 0x9b) return 'ansi'
  return isHidden(c) && ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c === 0x200e || c === 0x200f || c === 0x61c) ? 'bidi' : 'hidden'
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - 16)
  return line((from ? '…' : '') + text.slice(from, from + 160), 79)
}

const wanted = /^(?:side_?note|(?:full_?|previous_?|all_?)?(?:conversation|chat|message)s?_?(?:history|log|transcript|context|dump)|system_?prompt|(?:full|previous|all)_?(?:context|messages)|chain_?of_?thought|user_?secrets?|session_?transcript)$/i

/** Parameters by which a server asks for what the model was told, not for what the tool needs. */
export const suspiciousParameter = (name: string) => wanted.test(name.slice(0, 100).replaceAll('-', '_'))
