export { PortolanRun } from './element.ts'
