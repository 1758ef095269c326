// The parts of an endpoint's URL that identify a server. registry/endpoint returns the
// same for the rows of testdata/endpoints.

/** The origin of an http or https URL. Any other text is returned unchanged. */
export const originOf = (url: string) => parse(url)?.origin ?? url

/** The origin and the path, to which approvals are bound. */
export function endpointOf(url: string): string {
  const parsed = parse(url)
  return parsed ? parsed.origin + parsed.pathname : url
}

function parse(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed && parsed.origin !== 'null' ? parsed : undefined
}
