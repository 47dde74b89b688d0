/** `npm run pack`: makes the package that runs without the repository. */
import { makePackage } from '../start/packaging/package.ts';

await makePackage(process.argv[2] ?? 'release/package', (line) => console.error(line));
