/** `npm run openapi`: writes docs/openapi.json, and the types of the client that follow from it. */
import { writeFileSync } from 'node:fs';
import pc from 'picocolors';
import { typesOfDocuments, writeClientTypes } from '../client/types.ts';
import { documentPath, operatorDocumentPath } from '../service/document/document-path.ts';
import { documentText } from '../service/document/document.ts';
import { operatorDocumentText } from '../service/document/operator-document.ts';

writeFileSync(new URL(`../${documentPath}`, import.meta.url), documentText());
writeFileSync(new URL(`../${operatorDocumentPath}`, import.meta.url), operatorDocumentText());
await writeClientTypes();
const written = [documentPath, operatorDocumentPath, ...Object.keys(typesOfDocuments)].map((path) =>
  pc.bold(path),
);
console.log(`${written.join(', ')} are written.`);
