// Stand-ins for a browser's globals. internal/build/npm.mjs puts them into the bundles with elements. A program without
// a DOM can then import these bundles, and defines no elements.

const page = typeof window === 'undefined' ? undefined : window

class Nothing {}

const doc = page?.document ?? { createTreeWalker: () => ({}), createComment: () => ({}) }
const base = page?.HTMLElement ?? Nothing
const elements = page?.customElements ?? { define: () => {}, get: () => undefined }
const scope = page ?? {}

export { base as HTMLElement, doc as document, elements as customElements, scope as panelScope }
