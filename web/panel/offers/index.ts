// Resources, prompts, skills, tasks and logs. They are loaded when one of them is first opened.
import './log.ts'
import './prompts.ts'
import './resources.ts'
import './skills.ts'
import './tasks.ts'
