/**
 * Sets the pins of tools. A line, as registry/approvals writes it, has the server's name of a tool, a tab and the pin.
 */
export function givePins(tools: Iterable<{ tool: string; pin?: string }>, lines: string): void {
  const pins = new Map(lines.split('\n').map((line) => line.split('\t') as [string, string]))
  for (const tool of tools) tool.pin = pins.get(tool.tool)?.slice(0, 43) ?? ''
}
