/**
 * Gives tools their pins. `lines` are as registry/approvals writes them: the server's name of a tool, a tab, what it
 * is approved by.
 */
export function givePins(tools: Iterable<{ tool: string; pin?: string }>, lines: string): void {
  const pins = new Map(lines.split('\n').map((line) => line.split('\t') as [string, string]))
  for (const tool of tools) tool.pin = pins.get(tool.tool)?.slice(0, 43) ?? ''
}
