/** Formats a page of docs/ that a program writes, as Prettier formats all other pages. */
import { format, resolveConfig } from 'prettier';

/** @param page the address of the page, whose Prettier settings apply */
export async function formattedPage(markdown: string, page: URL): Promise<string> {
  return format(markdown, { ...(await resolveConfig(page)), parser: 'markdown' });
}
