export { Elicitation, useQuestions } from './elicitation.ts'
export { PortolanPanel } from './panel.ts'
export { useMCP } from './mcp.ts'
export { useRegistry } from './registry.ts'
