/** Formats a page of docs/ that a program writes, as oxfmt formats all other pages. */
import { format } from 'oxfmt';
import settings from '../.oxfmtrc.json' with { type: 'json' };

/** Throws when the text is no Markdown that oxfmt can read. */
export async function formattedPage(markdown: string): Promise<string> {
  const { printWidth } = settings;
  const { code, errors } = await format('page.md', markdown, { printWidth, proseWrap: 'never' });
  if (errors.length > 0) throw new Error(`oxfmt cannot format the page: ${errors[0]?.message ?? ''}`);
  return code;
}
