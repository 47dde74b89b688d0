/**
 * A process of its own that loads the bundle of RenderImage as Lambda does, and renders the creations whose
 * ids come on the command line, one after the other. An environment of Lambda stays warm and does the same.
 * Prints one line of JSON with its largest resident memory and its processor time for each creation.
 */
import { pathToFileURL } from 'node:url';
import { usageOf } from '../process-usage.ts';

type Handler = (event: object, context: object) => Promise<unknown>;

const [, , bundle = '', ...creations] = process.argv;
const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: Handler };
const loaded = usageOf(process.pid);
for (const creation_id of creations) await handler({ creation_id }, { awsRequestId: `bench-${creation_id}` });
const { peakBytes, cpuMillis } = usageOf(process.pid);
const cpuMillisEach = (cpuMillis - loaded.cpuMillis) / creations.length;
console.log(JSON.stringify({ loadedBytes: loaded.peakBytes, peakBytes, cpuMillisEach }));
