// Frameworks for agents. Loading them takes long, so that only their tests do.

export { Agent, type FunctionTool, OpenAIResponsesModel, Runner } from '@openai/agents'
export { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
export { ChatOpenAI } from '@langchain/openai'
