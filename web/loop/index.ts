export { loop } from './loop.ts'
