import { boot } from '../boot.ts'

/** A data-testid, unless the page's state removes them. */
export const testId = (name: string): { 'data-testid'?: string } => boot.state.noTestIds ? {} : { 'data-testid': name }
