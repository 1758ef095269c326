// Reading one answer to tools/list: which definitions can be offered, and why
// the others cannot. The definitions stay here; Go gets their names.

import { cleanTool } from './hygiene.ts';
import { isObject, type JsonObject, measure } from './plane-json.ts';
import { pinOf } from './pin.ts';
import type { Flag } from './types.ts';

export interface ToolBounds {
  /** Size of one definition, in bytes. */
  definition: number;
  /** Nesting of a definition. */
  depth: number;
  /** Size of a description, in bytes. */
  description: number;
  /** Of one schema: how deep schemas lie in schemas, how many there are, and the values of an enum. */
  schemaDepth: number;
  schemaNodes: number;
  enumValues: number;
  /** How many are offered; one more is read, so that it is known that there are more. */
  tools: number;
}

export interface ToolList {
  /** Without hidden text. */
  tools: unknown[];
  /** Of what the server sent. */
  pins: string[];
  /** Of those that had hidden text, by index. */
  flags: Map<number, Flag[]>;
  /** No tool is other than the server sent it. */
  asSent: boolean;
  /** Where each tool stood in the answer's list. */
  places: number[];
  /** The tools' names and pins, one a line, a tab between. */
  names: string;
  /** '' or JSON, as platform.go describes it. */
  extra: string;
}

const NAME_BYTES = 256;
const DROPS = 1000;
const CONTROL = /[\u0000-\u001f\u007f\ufffd]|\p{Surrogate}/u;

/** Undefined if the result has no list. `bytes` is the size of the whole text. */
export function readTools(result: Record<string, unknown>, bytes: number, annotated: boolean, bounds: ToolBounds): ToolList | undefined {
  const list: unknown = result['tools'];
  if (!Array.isArray(list)) return undefined;
  const tools: unknown[] = [], places: number[] = [], names: string[] = [], pins: string[] = [], drops: [string, string][] = [], headers: number[] = [];
  const flags = new Map<number, Flag[]>();
  let asSent = true;
  for (let place = 0; place < list.length && tools.length <= bounds.tools; place++) {
    const tool = list[place];
    let reason = refuse(tool, bytes, bounds);
    const cleaned = reason === '' ? cleanTool(tool as JsonObject) : undefined;
    reason = cleaned?.refused ?? reason;
    if (!cleaned || reason !== '') {
      if (drops.length < DROPS) drops.push([nameOf(tool), reason]);
      continue;
    }
    if (annotated && JSON.stringify(tool).includes('"x-mcp-header"')) headers.push(tools.length);
    const pin = pinOf(tool as JsonObject);
    if (cleaned.flags) flags.set(tools.length, cleaned.flags);
    asSent &&= cleaned.tool === tool;
    tools.push(cleaned.tool);
    pins.push(pin);
    places.push(place);
    names.push(`${(tool as { name: string }).name}\t${pin}`);
  }
  const extra: Record<string, unknown> = {};
  if (drops.length > 0) extra['drops'] = drops;
  if (typeof result['nextCursor'] === 'string') extra['next'] = result['nextCursor'];
  if (typeof result['ttlMs'] === 'number') extra['ttl'] = result['ttlMs'];
  if (headers.length > 0) extra['headers'] = headers;
  const more = Object.keys(extra).length > 0;
  return { tools, pins, flags, asSent, places, names: names.join('\n'), extra: more ? JSON.stringify(extra) : '' };
}

function nameOf(tool: unknown): string {
  const name = isObject(tool) ? tool['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, NAME_BYTES) : '';
}

// registry/sdksession/page.go does the same, in the same words.
function refuse(tool: any, bytes: number, bounds: ToolBounds): string {
  if (!isObject(tool)) return 'the tool is not an object';
  const { name, description } = tool;
  if (typeof name !== 'string' || name === '') return 'the tool has no name';
  if (longer(name, NAME_BYTES)) return `the name is longer than ${NAME_BYTES} bytes`;
  if (CONTROL.test(name)) return 'the name holds a control character';
  if (!isObject(tool['inputSchema'])) return 'inputSchema is not an object';
  if (description != null && typeof description !== 'string') return 'description is not a string';
  const size = measure(tool, bounds.depth);
  if (size < 0) return `the definition is nested deeper than ${bounds.depth} levels`;
  if (bytes > bounds.definition && size > bounds.definition) return `the definition is larger than ${bounds.definition} bytes`;
  if (description != null && longer(description as string, bounds.description)) return `the description is longer than ${bounds.description} bytes`;
  if (size > HARMLESS || bounds.schemaDepth < 32 || bounds.schemaNodes < 64 || bounds.enumValues < 96) {
    for (const which of ['inputSchema', 'outputSchema']) {
      const what = isObject(tool[which]) && overgrown(tool[which], bounds, 0, false, { nodes: 0 });
      if (what) return which + what;
    }
  }
  return '';
}

/** A definition of this size has no room for 32 levels. */
const HARMLESS = 192;

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

// `named`: a map of schemas, by names of the server's choice. Any other object counts as a schema.
function overgrown(v: object, bounds: ToolBounds, depth: number, named: boolean, count: { nodes: number }): string {
  const list = Array.isArray(v);
  if (!list && !named) {
    if (++depth > bounds.schemaDepth) return ` is nested deeper than ${bounds.schemaDepth} schemas`;
    if (++count.nodes > bounds.schemaNodes) return ` has more than ${bounds.schemaNodes} schemas`;
  }
  for (const [key, child] of Object.entries(v) as [string, unknown][]) {
    if (typeof child !== 'object' || child === null) continue;
    const word = list || named ? '' : key;
    if (word === 'enum' && Array.isArray(child) && child.length > bounds.enumValues) return ` has an enum of more than ${bounds.enumValues} values`;
    const what = overgrown(child, bounds, depth, MAPS.has(word), count);
    if (what) return what;
  }
  return '';
}

function longer(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes);
}
