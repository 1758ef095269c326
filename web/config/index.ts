export { fill } from './placeholders.ts'
export { readConfig } from './read.ts'
export { writeConfig } from './write.ts'
