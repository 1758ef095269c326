export { run } from './run.ts'
export { toSSE } from './sse.ts'
