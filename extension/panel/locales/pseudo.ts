import settings from '../../../web/panel/locales/pseudo.ts'
import { pseudo } from '../../../web/ui/translations.ts'
import { en } from '../translations.ts'

export default pseudo(en)
export { settings }
