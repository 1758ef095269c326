// Everything that the lists of servers and tools do not need. It is loaded at first use.
import './activity/view.ts'
import './add/look-view.ts'
import './add/preview.ts'
import './catalogue/view.ts'
import './export/dialog.ts'
import './review/dialog.ts'
import './server/credentials.ts'
import './server/edit.ts'
import './tool/dialog.ts'

export { readConfig } from '../config/read.ts'
export { writeConfig } from '../config/write.ts'
