/** A reporter of Node's test runner: the counts of a file, and the names of the tests that failed. */
export default async function*(events) {
  const report = { tests: 0, pass: 0, fail: 0, skipped: 0, failed: [] }
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.details?.type !== 'suite') report.failed.push(data.name)
    if (type === 'test:summary' && data.counts) {
      const { tests, passed, failed, cancelled, skipped } = data.counts
      Object.assign(report, { tests, pass: passed, fail: failed + cancelled, skipped })
    }
  }
  yield JSON.stringify(report)
}
