/** Reports an answer that is probably wrong: empty, only "ok", or without the digits that the question has. */
export function suspicious(question: string, answer: string): boolean {
  const plain = answer.trim().toLowerCase()
  if (!plain) return true
  if (question.trim().toUpperCase() === 'OK') return false
  return plain === 'ok' || (/\d/.test(question) && !/\p{Nd}/u.test(answer))
}
