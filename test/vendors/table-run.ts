/** The process behind `npm run vendors`. */
import { startFleet } from './fleet.ts';
import { runVendors } from './table.ts';

const fleet = await startFleet();
try {
  const rows = await runVendors(fleet, (what) => process.send?.({ kind: 'began', what }));
  process.send?.({ kind: 'ran', rows });
  process.exitCode = rows.every(({ status }) => status === 'completed') ? 0 : 1;
} finally {
  await fleet.end();
}
