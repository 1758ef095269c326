import { boot } from '../boot.ts'

/** A data-testid, unless the page has lost them. */
export const testId = (name: string): { 'data-testid'?: string } => boot.state.noTestIds ? {} : { 'data-testid': name }
