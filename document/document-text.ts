/** The text of docs/openapi.json. */
import { openApiDocument } from './document.ts';

export function documentText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}
