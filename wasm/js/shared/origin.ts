// The parts of an endpoint's URL that identify a server. registry/endpoint returns the
// same for the rows of testdata/endpoints.

/** The origin of an http or https URL. Any other text is returned unchanged. */
export const originOf = (url: string) => parse(url)?.origin ?? url

/** The origin and the path, to which approvals are bound. */
export function endpointOf(url: string): string {
  const parsed = parse(url)
  return parsed ? parsed.origin + parsed.pathname : url
}

/** The last URLs that were parsed. A call needs the origin of its server several times. */
const known = new Map<string, URL | undefined>()

/** The most URLs that are kept. */
const MOST = 100

function parse(url: string): URL | undefined {
  if (known.has(url)) return known.get(url)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const kept = parsed && parsed.origin !== 'null' ? parsed : undefined
  if (known.size >= MOST) known.clear()
  known.set(url, kept)
  return kept
}
