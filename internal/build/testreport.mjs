/** A reporter of Node's test runner: the counts of a file, and the names of the tests that failed. */
export default async function* (events) {
  const counts = { tests: 0, pass: 0, fail: 0, skipped: 0, failed: [] }
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details?.type === 'suite' || data.nesting > 0) continue
    counts.tests++
    if (data.skip !== undefined) counts.skipped++
    else if (type === 'test:pass') counts.pass++
    else {
      counts.fail++
      counts.failed.push(data.name)
    }
  }
  yield JSON.stringify(counts)
}
