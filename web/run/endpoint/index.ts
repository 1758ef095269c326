export { endpoint } from './endpoint.ts'
export { nodeEndpoint } from './node.ts'
export { remoteRun } from './remote.ts'
