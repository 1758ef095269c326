import { unknownFormat } from './formats.ts'
import { toolFor } from './convert.ts'
import type { SchemaLoss } from './schemashape.ts'
import { readTool } from './own-tools.ts'
import { apiTool, callTool, codeTool, resourceTools, searchTool, skillTools } from './toolnames.ts'
import type { AISDKSchema, Dialect, JSONSchema, Loss, Tool, ToolDefinition, ToolInfo } from '../../shared/types.ts'

const dialects: Dialect[] = ['openai', 'openai-responses', 'anthropic', 'gemini']

/** Converted tools by dialect. A tool is converted on first use. */
const converted = new Map<Dialect, WeakMap<ToolDefinition, Converted>>(dialects.map((d) => [d, new WeakMap()]))

interface Converted {
  name: string
  tool: Tool
  losses: Loss[]
}

/** A tool of the registry itself. */
const own = (
  name: string,
  description: string,
  properties: object,
  required?: string[],
  more?: Pick<ToolDefinition, 'annotations'>,
): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object', ...(required && { required }), properties },
  ...more,
})
const reads = { annotations: { readOnlyHint: true } }

const reader = own(readTool, 'Reads on in a tool result that was cut: handle and offset as the cut says them.', {
  handle: { type: 'string' },
  offset: { type: 'integer' },
  length: { type: 'integer', description: 'In characters; default 20000' },
}, ['handle'])

const lister = own(
  resourceTools[0],
  'Lists the resources of MCP servers: documents, records and files that can be read.',
  { server: { type: 'string', description: 'Only of this server' } },
)

const resourceReader = own(
  resourceTools[1],
  'Reads a resource that a server lists, that fits one of its templates, or that a result has named.',
  { server: { type: 'string' }, uri: { type: 'string' } },
  ['server', 'uri'],
  reads,
)

const skillLister = own(
  skillTools[0],
  'Lists the skills of MCP servers: instructions for tasks, with names, URIs and descriptions.',
  { server: { type: 'string', description: 'Only of this server' } },
)

const skillLoader = own(
  skillTools[1],
  'Loads a skill of an MCP server: its SKILL.md, or one of its files once it is loaded.',
  {
    server: { type: 'string' },
    skill: { type: 'string', description: 'Its name, or its URI' },
    file: { type: 'string', description: 'The path of a file of the skill; a directory ends with a slash' },
  },
  ['server', 'skill'],
  reads,
)

const searcher = own(
  searchTool,
  'Finds tools that are not in your list, by what they do. It gives their names, descriptions and schemas.',
  {
    query: { type: 'string', description: 'What the tool should do, in a few words' },
    limit: { type: 'integer', minimum: 1, maximum: 20, description: 'Default 5' },
    server: { type: 'string', description: 'Only tools of this server' },
  },
  ['query'],
  reads,
)

const caller = own(callTool, `Calls a tool that ${searchTool} has found.`, {
  name: { type: 'string' },
  arguments: { type: 'object', description: "Fits the found tool's schema" },
}, ['name', 'arguments'])

const declarer: ToolDefinition = {
  ...searcher,
  name: apiTool,
  description: `Finds functions that your code can call, by what they do. It declares them in TypeScript. ` +
    `Write code for ${codeTool} with what it found.`,
}

const runner = own(
  codeTool,
  'Runs JavaScript, the body of an async function, and gives what it returns and logs. The code calls functions ' +
    `that ${apiTool} has declared: await tools.server.tool(args). It has no network, no files, no imports and no DOM. ` +
    'A call that fails throws. Use loops and Promise.all, and return only what you need: at most 50 calls, 64 KiB.',
  { code: { type: 'string', description: 'For example: return await tools.demo.add({ a: 1, b: 2 })' } },
  ['code'],
)

/** A schema as `jsonSchema()` of the AI SDK makes it. Its types know a Standard JSON Schema only. */
export function aiSchema(jsonSchema: JSONSchema): AISDKSchema {
  const schema = () => jsonSchema
  return {
    [Symbol.for('vercel.ai.schema')]: true,
    validate: undefined,
    jsonSchema,
    '~standard': {
      version: 1,
      vendor: 'portolan',
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: schema, output: schema },
    },
  } as AISDKSchema
}

/** Which tools of the registry itself are in a list. */
type OwnTools = Partial<Record<'resources' | 'skills' | 'readResult' | 'search' | 'call' | 'code', boolean>>

function convert(format: Dialect, { name, server, definition }: ToolInfo): Converted {
  const losses: Loss[] = []
  return { name, tool: toolFor(format, name, server, definition, (l) => losses.push(lossOf(name, l))), losses }
}

/** Converts tools to a dialect, and adds tools of the registry itself. */
export function convertTools(
  format: Dialect,
  tools: readonly ToolInfo[],
  own: OwnTools,
  onLoss?: (loss: Loss) => void,
): Tool[] {
  const cache = converted.get(format)
  if (!cache) throw unknownFormat(format, [...dialects, 'ai-sdk'])
  const out = tools.map((t) => {
    let entry = cache.get(t.definition)
    if (entry?.name !== t.name) cache.set(t.definition, entry = convert(format, t))
    if (onLoss) entry.losses.forEach(onLoss)
    return entry.tool
  })
  const added = [
    ...(own.resources ? [lister, resourceReader] : []),
    ...(own.skills ? [skillLister, skillLoader] : []),
    ...(own.readResult ? [reader] : []),
    ...(own.search ? [searcher] : []),
    ...(own.call ? [caller] : []),
    ...(own.code ? [declarer, runner] : []),
  ]
  return [...out, ...added.map((tool) => toolFor(format, tool.name, 'portolan', tool))]
}

/** A loss in the published form. `what` begins with the keyword, or says what was cut. */
function lossOf(tool: string, { path: pointer, what }: SchemaLoss): Loss {
  const [, word = '', change = what] = /^([^ :]+): (.*)$/.exec(what) ?? []
  const keyword = ['cut', 'anything', 'inputSchema', 'property'].includes(word) ? '' : word
  if (/\bcut\b/.test(what)) return { tool, pointer, keyword, kind: 'cut' }
  if (change.includes('moved into')) return { tool, pointer, keyword, kind: 'described' }
  return { tool, pointer, keyword, kind: change.startsWith('removed') ? 'removed' : 'changed' }
}
