// The client libraries of model providers. Their packages are in this folder.

export { default as OpenAI } from 'openai'
export { default as Anthropic } from '@anthropic-ai/sdk'
export { type CallableTool, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
export { createOpenAICompatible } from '@ai-sdk/openai-compatible'
export {
  asSchema,
  dynamicTool,
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  type ToolResultPart,
  type ToolSet,
} from 'ai'
