import { parseTemplate } from 'url-template'

/** The names of a template's variables (RFC 6570), without their modifiers. */
export function variablesOf(template: string): string[] {
  const names = [...template.matchAll(/\{[+#./;?&]?([^{}]+)\}/g)].flatMap(([, list]) =>
    list!.split(',').map((name) => name.replace(/(\*|:\d+)$/, ''))
  )
  return [...new Set(names)].filter(Boolean)
}

/** The URI that a template makes of texts. An empty text counts as undefined. A list is written with commas. */
export function expand(template: string, values: Record<string, string>): string {
  const lists = new Set([...template.matchAll(/([\w.%]+)\*/g)].map(([, name]) => name))
  const given = Object.entries(values).filter(([, value]) => value)
  return parseTemplate(template).expand(
    Object.fromEntries(given.map(([name, value]) => [name, lists.has(name) ? value.split(',') : value])),
  )
}
