/**
 * A process of its own that loads the bundle of AuditBooks as Lambda does, and invokes the function until its
 * run is finished. Prints one line of JSON with the last report, the number of invocations and what the process
 * used.
 */
import { pathToFileURL } from 'node:url';
import { usageOf } from '../process-usage.ts';

interface Report {
  readonly isFinished?: boolean;
  readonly outcome?: string;
}
type Handler = (event: object, context: object) => Promise<Report>;

const [, , bundle = '', secondsEach = '900'] = process.argv;
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: Handler };
const begun = performance.now();
let report: Report = {};
let invocations = 0;
while (report.isFinished !== true) {
  invocations += 1;
  const end = performance.now() + Number(secondsEach) * 1000;
  const awsRequestId = `bench-${invocations}`;
  report = await handler({}, { awsRequestId, getRemainingTimeInMillis: () => end - performance.now() });
  if (report.outcome !== undefined) throw new Error(`the run is ${report.outcome}`);
}
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ seconds, invocations, ...usageOf(process.pid), report }));
