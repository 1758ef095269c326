// A reporter of Node's test runner: the test files in which something failed, a line for each. Where
// a test says that it stands may be a helper's file; so it counts for the file that is being run.
export default async function*(events) {
  const files = new Set()
  let running
  for await (const { type, data } of events) {
    if (type === 'test:dequeue' && /\.test\.\w+$/.test(data.name) && data.file?.endsWith(data.name)) running = data.file
    if (type === 'test:fail' && data.todo === undefined) files.add(running ?? data.file ?? data.name)
  }
  for (const file of files) yield `${file}\n`
}
