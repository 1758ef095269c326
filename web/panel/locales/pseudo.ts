import { pseudo } from '../../ui/translations.ts'
import { en } from '../translations.ts'

export default pseudo(en)
