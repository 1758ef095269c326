import type { RedactedConfig, Registry, ServerConfig } from '../../wasm/js/shared/types.ts'

/**
 * Finds out what a text is and which servers it describes. It reads a URL, `mcp.json` and its dialects, `server.json`,
 * an install link, a `claude mcp add` command or a curl command. At most 1 Mi characters and 500 servers. No text makes
 * it throw. `page` is the URL of the page: there are remarks about servers that it cannot reach.
 */
export declare function readConfig(text: string, options?: { page?: string }): Reading
/** The configuration of an entry with the values of its inputs, by id. A header with an empty input is left out. */
export declare function fill(entry: Entry, values?: Record<string, string>): ServerConfig
/**
 * The servers as the text of a configuration for other clients: `mcpServers` (the default) or `vscode`. It contains no
 * secrets: header values become placeholders.
 */
export declare function writeConfig(
  servers: Record<string, RedactedConfig>,
  dialect?: 'mcpServers' | 'vscode',
): string

/**
 * Adds the servers of a project's file to a registry with the option `project`. The source is a text, a file, or a
 * folder with `.mcp.json`, `.wiggum/mcp.json` or `.vscode/mcp.json`. A server that is new, or has another URL, is off
 * until the user switches it on. Rejects with a RegistryError `invalid_config` if the text cannot be read.
 */
export declare function openProject(
  registry: Registry,
  source: string | FileHandle | FolderHandle,
): Promise<ProjectFile>

/** The methods of a FileSystemFileHandle that openProject uses. */
export interface FileHandle {
  readonly kind: 'file'
  /** The file as it is now. */
  getFile(): Promise<{
    readonly size: number
    /** Its text. */
    text(): Promise<string>
  }>
  /** Begins to write the file. */
  createWritable(): Promise<{
    /** Writes a text. */
    write(text: string): Promise<void>
    /** Ends the writing. */
    close(): Promise<void>
  }>
}

/** The methods of a FileSystemDirectoryHandle that openProject uses. */
export interface FolderHandle {
  readonly kind: 'directory'
  /** A file in the folder. */
  getFileHandle(name: string): Promise<FileHandle>
  /** A folder in the folder. */
  getDirectoryHandle(name: string): Promise<FolderHandle>
}

/** The content of a project's file, beside the registry's own entries of the project. */
export interface ProjectFile {
  /** Servers that are new. Show the user their name and host before they are switched on. */
  added: { name: string; host: string }[]
  /** Servers with another URL. They are off again. */
  changed: { name: string; host: string }[]
  /** Servers of the project that the file does not name. They stay. */
  missing: string[]
  /**
   * Entries that are no server for a browser, such as local programs, those whose URL lacks a value, and those that the
   * registry refused.
   */
  skipped: string[]
  /** By server, the headers whose values the file leaves open. The user has to enter them. None is sent before. */
  headers: Record<string, string[]>
  /**
   * Writes the project's servers without their secrets into the file as it is now, if it was read from one. Servers
   * that have not changed stay as they are, and so do local programs, other members and comments. Returns the text.
   */
  save(): Promise<string>
}

/** The findings in a text that describes servers. */
export interface Reading {
  kind:
    | 'url'
    | 'mcp-json'
    | 'vscode'
    | 'continue'
    | 'server-json'
    | 'install-link'
    | 'claude-command'
    | 'curl'
    | 'toml'
    | 'unknown'
    | 'empty'
  entries: Entry[]
  /** The reason why there are no entries, or not all. */
  problem?: Problem
}

/** `line` and `column` begin at 1. */
export interface Problem {
  code:
    | 'bad_link'
    | 'json_depth'
    | 'json_quotes'
    | 'json_rest'
    | 'json_string'
    | 'json_unclosed'
    | 'json_unexpected'
    | 'no_servers'
    | 'no_url'
    | 'not_recognized'
    | 'open_quote'
    | 'toml'
    | 'too_large'
    | 'too_many'
    | 'yaml'
  line?: number
  column?: number
  /** The bound: characters with `too_large`, servers with `too_many`. */
  limit?: number
}

/** A server that a text describes. */
export interface Entry {
  /** A suggestion, unique within the reading. */
  name: string
  /** The configuration to save, once `fill` has put the inputs in; absent for a server that a browser cannot reach. */
  config?: ServerConfig
  /** A server that is a local process: explained, not added. */
  stdio?: Stdio
  /** Headers that hold secrets. The values are in `config.headers` only. */
  secrets: Secret[]
  /** The values that the user has to give; `config` says ${input:id} in their place. */
  inputs: Input[]
  lints: Lint[]
}

/** Arguments that may be secret say [redacted]; of the environment only the names are kept. */
export interface Stdio {
  command: string
  args: string[]
  env: string[]
}

/** A header that holds a secret. */
export interface Secret {
  header: string
  /** Whether the text has the value itself, names an input for it, or names a variable of the environment. */
  origin: 'value' | 'input' | 'env'
  /** The id of the input, if there is one. */
  input?: string
}

/** A value that the user has to give. */
export interface Input {
  /** The key of the value for {@link fill}. */
  id: string
  /** The header that it is for; none: it is part of the url. */
  header?: string
  description?: string
  /** It is to be typed unseen. */
  password: boolean
  required: boolean
  default?: string
  /** The values to choose from. */
  choices?: string[]
}

/**
 * A remark about an entry. `error`: it cannot be saved like this; `warning`: it
 * will hardly work, or leaks; `info`: good to know. `values` are for the message;
 * they hold no secrets but are foreign text.
 */
export interface Lint {
  code:
    | 'bad_url'
    | 'bearer_missing_scheme'
    | 'disabled'
    | 'duplicate_header'
    | 'empty_bearer'
    | 'empty_header'
    | 'forbidden_header'
    | 'header_too_long'
    | 'http_public_host'
    | 'ignored_field'
    | 'inspector_proxy_url'
    | 'invalid_header_name'
    | 'invalid_header_value'
    | 'localhost_from_public'
    | 'no_url'
    | 'other_host'
    | 'path_is_docs'
    | 'path_looks_like_homepage'
    | 'placeholder_left'
    | 'private_address'
    | 'secret_in_url'
    | 'trailing_space'
    | 'transport_mismatch'
    | 'unknown_transport'
    | 'websocket'
    | 'wrapped_remote'
  level: 'error' | 'warning' | 'info'
  values?: Record<string, string>
}
