/** Writes the recording anew: `node test/recorded/write.ts`. Look at the difference before you keep it. */
import { writeFile } from 'node:fs/promises';
import { environment } from '../../lab/simulation/environment.ts';
import { adminFile, apiFile } from './normalise.ts';

Object.assign(process.env, environment, { CDK_VALIDATION: 'false' });
delete process.env['FORCE_COLOR'];
// Some modules read the environment as they are loaded.
const { record } = await import('./record.ts');
const { playPortal, portalFile } = await import('./play-portal.ts');
const { templateFile, templateLines } = await import('./template-lines.ts');
const { settingsFile, settingsLines } = await import('./settings-lines.ts');
const { playTools, toolsFile } = await import('./play-tools.ts');
const { busyFile, playBusy } = await import('./play-busy.ts');
const { operatorFile, playOperator } = await import('./play-operator.ts');
const began = performance.now();
const { api, admin } = await record();
await writeFile(apiFile, `${JSON.stringify(api, null, 2)}\n`);
await writeFile(adminFile, `${JSON.stringify(admin, null, 2)}\n`);
const [portal, operator, busy] = [await playPortal(), await playOperator(), await playBusy()];
await writeFile(toolsFile, `${JSON.stringify(await playTools(), null, 2)}\n`);
await writeFile(busyFile, `${JSON.stringify(busy, null, 2)}\n`);
await writeFile(portalFile, `${JSON.stringify(portal, null, 2)}\n`);
await writeFile(templateFile, `${JSON.stringify(templateLines(), null, 2)}\n`);
await writeFile(settingsFile, `${JSON.stringify(settingsLines(), null, 2)}\n`);
await writeFile(operatorFile, `${JSON.stringify(operator, null, 2)}\n`);
const seconds = ((performance.now() - began) / 1_000).toFixed(1);
const operations = portal.length + operator.length + busy.length;
process.stderr.write(
  `${api.length} requests, ${admin.length} commands and ${operations} requests of the portal and the operator API ` +
    `are recorded in ${seconds} s.\n`,
);
