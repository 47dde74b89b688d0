/** Formats the pages of docs/ that programs write, as Prettier formats all others. */
import { format, resolveConfig } from 'prettier';

/** @param page the page's address; Prettier's settings for this file apply */
export async function formattedPage(markdown: string, page: URL): Promise<string> {
  return format(markdown, { ...(await resolveConfig(page)), parser: 'markdown' });
}
