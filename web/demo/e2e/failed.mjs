// A reporter of Node's test runner: the files in which something failed, a line for each.
export default async function* (events) {
  const files = new Set()
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.todo === undefined) files.add(data.file ?? data.name)
  }
  for (const file of files) yield `${file}\n`
}
