import { fileURLToPath } from 'node:url'

// Not needed where there is one lock file: here the repository has its own.
export default { turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) } }
