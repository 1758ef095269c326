import { pseudo } from '../../ui/translations.ts'
import { runWords } from '../run-words.ts'
import { en } from '../translations.ts'

export default pseudo({ ...en, ...runWords })
