/** `npm run openapi`: writes docs/openapi.json, the OpenAPI document of the API. */
import { writeFileSync } from 'node:fs';
import pc from 'picocolors';
import { documentPath } from '../document/document-path.ts';
import { documentText } from '../document/document-text.ts';

writeFileSync(new URL(`../${documentPath}`, import.meta.url), documentText());
console.log(`${pc.bold(documentPath)} is written.`);
