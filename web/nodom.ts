// Stand-ins that the panel's bundle finds under the names of a browser's globals (build.sh
// injects it), so that it can be imported where there is none: then its element is
// not defined, and nothing is left behind.

const page = typeof window === 'undefined' ? undefined : window

class Nothing {}

const doc = page?.document ?? { createTreeWalker: () => ({}), createComment: () => ({}) }
const base = page?.HTMLElement ?? Nothing
const elements = page?.customElements ?? { define: () => {}, get: () => undefined }
const scope = page ?? {}

export { base as HTMLElement, doc as document, elements as customElements, scope as panelScope }
