export { fill } from './placeholders.ts'
export { openProject } from './project.ts'
export { readConfig } from './read.ts'
export { writeConfig } from './write.ts'
