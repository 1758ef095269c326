export { PortolanPrompts } from './element.ts'
