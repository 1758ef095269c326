// The dialogs of questions. They are loaded with the first question.
import '../approve/dialog.ts'
import './address.ts'
import './form.ts'
import './sampling.ts'
