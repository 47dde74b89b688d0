/** The result of a tool about one creation. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { mostInlineBytes } from '../../../core/limits.ts';
import { errorName } from '../../error-name.ts';
import type { McpServices } from '../../services/mcp.ts';
import { sentenceOf, structuredOf, type CreationBody } from './seen-creation.ts';

/** Pictures that every host shows. */
const shownTypes: readonly string[] = ['image/png', 'image/jpeg'];

/** @param services absent: the tool shows no picture */
export async function creationResult(
  creation: CreationBody,
  services?: McpServices,
): Promise<CallToolResult> {
  const links = (creation.results ?? []).map(({ url, content_type: mimeType, bytes }): ContentBlock => ({
    type: 'resource_link',
    uri: url,
    name: url.slice(url.lastIndexOf('/') + 1),
    mimeType,
    size: bytes,
  }));
  const picture = services && (await pictureOf(creation, services));
  return {
    content: [{ type: 'text', text: sentenceOf(creation) }, ...links, ...(picture ? [picture] : [])],
    structuredContent: structuredOf(creation),
  };
}

/** The picture itself, when hosts can show it. Without it the link is left, so no failure of the read counts. */
async function pictureOf(
  { id, results }: CreationBody,
  { images, resultsBaseUrl, log }: McpServices,
): Promise<ContentBlock | undefined> {
  const image = results?.[0];
  if (!image || image.bytes > mostInlineBytes || !shownTypes.includes(image.content_type)) return undefined;
  try {
    const bytes = await images.get(image.url.slice(resultsBaseUrl.length + 1));
    return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: image.content_type };
  } catch (error) {
    log.info('picture_not_read', { creationId: id, error: errorName(error) });
    return undefined;
  }
}
