import type { Flag, ToolInfo } from './types.ts'

/** Looks definitions and results over for poison. */
export class Scanner {
  /** Has the flags of a tool found when somebody reads them. */
  watch(info: ToolInfo, others: () => readonly ToolInfo[]): void {
    void info, others
  }

  result(_result: unknown): Flag[] {
    return []
  }
}
