/** Writes docs/conformance.md: `node test/conformance/write.ts`. */
import { writeFile } from 'node:fs/promises';
import { conformancePage, conformanceTable } from './table.ts';

await writeFile(conformancePage, await conformanceTable());
