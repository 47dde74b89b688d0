/** Writes docs/conformance.md: `node test/conformance/write.ts`. */
import { writeFile } from 'node:fs/promises';
import { conformanceTable } from './table.ts';

await writeFile(new URL('../../docs/conformance.md', import.meta.url), conformanceTable());
