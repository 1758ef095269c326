// Reading one answer to tools/list: which definitions can be offered, and why
// the others cannot. The definitions stay here; Go gets their names.

import { isObject, measure } from './plane-json.ts';

export interface ToolBounds {
  /** Size of one definition, in bytes. */
  definition: number;
  /** Nesting of a definition. */
  depth: number;
}

export interface ToolList {
  tools: unknown[];
  /** Where each tool stood in the answer's list. */
  places: number[];
  /** The tools' names, one a line. */
  names: string;
  /** '' or JSON, as platform.go describes it. */
  extra: string;
}

const NAME_BYTES = 256;
const DROPS = 1000;
const CONTROL = /[\u0000-\u001f\u007f]|\p{Surrogate}/u;

/** Undefined if the result has no list. `bytes` is the size of the whole text. */
export function readTools(result: Record<string, unknown>, bytes: number, annotated: boolean, bounds: ToolBounds): ToolList | undefined {
  const list: unknown = result['tools'];
  if (!Array.isArray(list)) return undefined;
  const tools: unknown[] = [], places: number[] = [], names: string[] = [], drops: [string, string][] = [], headers: number[] = [];
  for (let place = 0; place < list.length; place++) {
    const tool = list[place];
    const reason = refuse(tool, bytes, bounds);
    if (reason !== '') {
      if (drops.length < DROPS) drops.push([nameOf(tool), reason]);
      continue;
    }
    if (annotated && JSON.stringify(tool).includes('"x-mcp-header"')) headers.push(tools.length);
    tools.push(tool);
    places.push(place);
    names.push(tool.name);
  }
  const extra: Record<string, unknown> = {};
  if (drops.length > 0) extra['drops'] = drops;
  if (typeof result['nextCursor'] === 'string') extra['next'] = result['nextCursor'];
  if (typeof result['ttlMs'] === 'number') extra['ttl'] = result['ttlMs'];
  if (headers.length > 0) extra['headers'] = headers;
  const more = Object.keys(extra).length > 0;
  return { tools, places, names: names.join('\n'), extra: more ? JSON.stringify(extra) : '' };
}

function nameOf(tool: unknown): string {
  const name = isObject(tool) ? tool['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, NAME_BYTES) : '';
}

function refuse(tool: any, bytes: number, bounds: ToolBounds): string {
  if (!isObject(tool)) return 'the tool is not an object';
  const name = tool['name'];
  if (typeof name !== 'string' || name === '') return 'the tool has no name';
  if (tooLong(name)) return 'the name is longer than 256 bytes';
  if (CONTROL.test(name)) return 'the name holds a control character';
  if (!isObject(tool['inputSchema'])) return 'inputSchema is not an object';
  if (tool['description'] != null && typeof tool['description'] !== 'string') return 'description is not a string';
  const size = measure(tool, bounds.depth);
  if (size < 0) return `the definition is nested deeper than ${bounds.depth}`;
  if (bytes > bounds.definition && size > bounds.definition) return `the definition is larger than ${bounds.definition} bytes`;
  return '';
}

function tooLong(name: string): boolean {
  return name.length > NAME_BYTES || (name.length * 3 > NAME_BYTES && new TextEncoder().encode(name).length > NAME_BYTES);
}
