export { PortolanPanel } from './panel.ts'
