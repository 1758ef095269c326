import { checkFields } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { checkNames } from './checkrequest.ts'
import { toolFor } from './convert.ts'
import { readTool, resourceTools } from './own-tools.ts'
import { RegistryImage } from './registry.ts'
import type {
  AISDKSchema,
  AISDKTool,
  Dialect,
  GetToolsOptions,
  JSONSchema,
  MediaOptions,
  OpenAITool,
  Registry,
  RunnableAISDKTool,
  Tool,
  ToolDefinition,
  ToolFilter,
  ToolInfo,
} from '../shared/types.ts'

const dialects: Dialect[] = ['openai', 'openai-responses', 'anthropic', 'gemini']

/** Converted tools by dialect. A tool is converted on first use. */
const converted = new Map<Dialect, WeakMap<ToolDefinition, { name: string; tool: Tool }>>(
  dialects.map((d) => [d, new WeakMap()]),
)

const reader: ToolDefinition = {
  name: readTool,
  description: 'Reads on in a tool result that was cut: handle and offset as the cut says them.',
  inputSchema: {
    type: 'object',
    required: ['handle'],
    properties: {
      handle: { type: 'string' },
      offset: { type: 'integer' },
      length: { type: 'integer', description: 'In characters; default 20000' },
    },
  },
}

const lister: ToolDefinition = {
  name: resourceTools[0],
  description: 'Lists the resources of MCP servers: documents, records and files that can be read.',
  inputSchema: {
    type: 'object',
    properties: { server: { type: 'string', description: 'Only of this server' } },
  },
}

const resourceReader: ToolDefinition = {
  name: resourceTools[1],
  description: 'Reads a resource that a server lists, that fits one of its templates, or that a result has named.',
  inputSchema: {
    type: 'object',
    required: ['server', 'uri'],
    properties: { server: { type: 'string' }, uri: { type: 'string' } },
  },
  annotations: { readOnlyHint: true },
}

/** A registry with the tools in the form for models. */
export class PageRegistry extends RegistryImage implements Registry {
  getTools = ((options?: GetToolsOptions) => {
    const { tools } = this.getSnapshot()
    if ((options?.format as string) !== sdk) return convertTools(tools, options)
    const chosen = convertTools(tools, { ...options, format: 'openai' }) as OpenAITool[]
    return Object.fromEntries(
      chosen.map(({ function: f }): [string, AISDKTool] => [
        f.name,
        { description: f.description, inputSchema: schemaFor(f.parameters) },
      ]),
    )
  }) as Registry['getTools']

  toolsFor(
    format: 'ai-sdk',
    { modalities, maxImageBytes, ...filter }: ToolFilter & MediaOptions = {},
  ): Record<string, RunnableAISDKTool> {
    if (format !== sdk)
      throw new RegistryError('invalid_option', `unknown format ${JSON.stringify(format)}`, {
        hint: `Known is ${sdk}.`,
      })
    const tools = this.getTools({ ...filter, format })
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]): [string, RunnableAISDKTool] => [name, {
        ...tool,
        execute: (args, { abortSignal: signal, toolCallId: callId }) => this.call(name, args, { signal, callId }),
        toModelOutput: ({ output }) => this.toMessage(output, { format, modalities, maxImageBytes }),
      }]),
    )
  }
}

const sdk = 'ai-sdk'

/** A schema as `jsonSchema()` of the AI SDK makes it. Its types know a Standard JSON Schema only. */
function schemaFor(jsonSchema: JSONSchema): AISDKSchema {
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

/** The tools that pass the filter, converted to the dialect. */
function convertTools(tools: readonly ToolInfo[], options: GetToolsOptions = {}): Tool[] {
  checkFields('getTools', options, 'format servers include exclude readResult resources')
  const { format = 'openai', servers, include, exclude } = options
  checkNames('servers', servers)
  checkNames('include', include)
  checkNames('exclude', exclude)
  const cache = converted.get(format)
  if (!cache) {
    throw new RegistryError('invalid_option', `unknown format ${JSON.stringify(format)}`, {
      hint: `Known are ${dialects.join(', ')}, ${sdk}.`,
    })
  }
  const out: Tool[] = []
  for (const t of tools) {
    if (servers && !servers.includes(t.server)) continue
    if (include && !matches(include, t.name)) continue
    if (exclude && matches(exclude, t.name)) continue
    let entry = cache.get(t.definition)
    if (entry?.name !== t.name)
      cache.set(t.definition, entry = { name: t.name, tool: toolFor(format, t.name, t.server, t.definition) })
    out.push(entry.tool)
  }
  if (options.resources) {
    for (const tool of [lister, resourceReader]) out.push(toolFor(format, tool.name, 'portolan', tool))
  }
  if (options.readResult) out.push(toolFor(format, readTool, 'portolan', reader))
  return out
}

function matches(patterns: string[], name: string): boolean {
  return patterns.some((p) => p === name || (p.endsWith('*') && name.startsWith(p.slice(0, -1))))
}
