/** `npm run openapi`: writes docs/openapi.json, and the types of the client that follow from it. */
import { writeFileSync } from 'node:fs';
import pc from 'picocolors';
import { typesPath, writeClientTypes } from '../client/types.ts';
import { documentPath } from '../service/document/document-path.ts';
import { documentText } from '../service/document/document.ts';

const document = documentText();
writeFileSync(new URL(`../${documentPath}`, import.meta.url), document);
await writeClientTypes(document);
console.log(`${pc.bold(documentPath)} and ${pc.bold(typesPath)} are written.`);
