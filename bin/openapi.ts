/** `npm run openapi`: writes the documents of the API, the types of the client that follow, and a table of the docs. */
import { readFileSync, writeFileSync } from 'node:fs';
import pc from 'picocolors';
import { withProvidersTable } from '../admin/providers-table.ts';
import { typesOfDocuments, writeClientTypes } from '../client/types.ts';
import { formattedPage } from '../lab/formatted-page.ts';
import { documentPath, operatorDocumentPath } from '../service/document/document-path.ts';
import { documentText } from '../service/document/document.ts';
import { operatorDocumentText } from '../service/document/operator-document.ts';

writeFileSync(new URL(`../${documentPath}`, import.meta.url), documentText());
writeFileSync(new URL(`../${operatorDocumentPath}`, import.meta.url), operatorDocumentText());
await writeClientTypes();
const providersPage = 'docs/providers.md';
const page = new URL(`../${providersPage}`, import.meta.url);
writeFileSync(page, await formattedPage(withProvidersTable(readFileSync(page, 'utf8'))));
const written = [documentPath, operatorDocumentPath, providersPage, ...Object.keys(typesOfDocuments)].map(
  (path) => pc.bold(path),
);
console.log(`${written.join(', ')} are written.`);
