import { pseudo } from '../../ui/translations.ts'
import { appWords } from '../app-words.ts'
import { runWords } from '../run-words.ts'
import { en } from '../translations.ts'

export default pseudo({ ...en, ...runWords, ...appWords })
