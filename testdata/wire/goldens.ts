// Made by: go test ./wasm/internal/api -run WireGoldens -update
import type { WireError } from '../../wasm/js/shared/errors.ts'
import type { StateEvent } from '../../wasm/js/shared/protocol.ts'
import type { ErrorCode, ToolProgress } from '../../wasm/js/shared/types.ts'

export const connected = {"event":"state","status":"ready","servers":{"s":{"status":"connected","suspended":false,"toolCount":2,"toolTotal":3,"transport":"sse","protocolVersion":"2024-11-05","lastSuccessful":1790000000000,"lastConnected":1790000000000,"lastError":null,"consecutiveFailures":0,"retryAt":null,"latencyMs":1.5,"warnings":["tool \"x\" dropped: no name"],"serverInfo":{"name":"srv","version":"1","title":"Server","description":"Serves.","websiteUrl":"https://a.example","icons":[{"src":"https://a.example/i.png","mimeType":"image/png","theme":"dark","sizes":["48x48"]},{"src":"data:image/png,"}]},"config":{"url":"https://a.example/mcp","headers":{"Authorization":"[redacted]"},"proxy":true,"enabled":true,"transport":"sse","timeoutMs":1000,"tools":{"allow":["a"],"deny":[]}}},"gone":null}} satisfies StateEvent
export const suspended = {"event":"state","status":"ready","servers":{"s":{"status":"error","suspended":true,"toolCount":0,"toolTotal":0,"lastSuccessful":null,"lastConnected":null,"lastError":"http status 503","errorCode":"http_status","hint":"later","consecutiveFailures":3,"retryAt":1790000000000,"latencyMs":null,"config":{"url":"builtin:demo","proxy":false,"enabled":false}},"gone":null}} satisfies StateEvent
export const never = {"event":"state","status":"ready","servers":{"s":{"status":"disconnected","suspended":false,"toolCount":0,"toolTotal":0,"lastSuccessful":null,"lastConnected":null,"lastError":null,"consecutiveFailures":0,"retryAt":null,"latencyMs":null,"config":{"url":"builtin:demo","proxy":false,"enabled":true}},"gone":null}} satisfies StateEvent
export const progress = {"progress":1,"total":2,"message":"half"} satisfies ToolProgress
export const refused = {"code":"unauthorized","message":"server s: connect: http status 401","server":"s","status":401,"hint":"The server wants credentials: set an Authorization header for it, or signIn(name).","retryable":false} satisfies WireError
export const codes: ErrorCode[] = [
  'sign_in_needed',
  'sign_in_failed',
  'unknown_server',
  'server_removed',
  'unknown_tool',
  'unknown_prompt',
  'unknown_resource',
  'unknown_skill',
  'disabled',
  'suspended',
  'held',
  'denied',
  'gone',
  'closed',
  'invalid_config',
  'invalid_arguments',
  'invalid_result',
  'invalid_skill',
  'session_expired',
  'redirect',
  'too_large',
  'unsupported',
  'timeout',
  'aborted',
  'network',
  'protocol',
  'server_error',
  'internal',
  'proxy_refused',
  'unauthorized',
  'forbidden',
  'http_status',
  'rate_limited',
  'http_status',
  'http_status',
]
