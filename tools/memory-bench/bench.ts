/**
 * `npm run lab -- memory`: the least memory with which the bundle of RenderImage renders the largest order of
 * each vendor. The bundle runs in a process of its own, with the limits of V8 that Lambda sets, over the AWS of
 * the one machine and the fakes of the vendors.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { renderers, type Renderer } from '../../core/renderer.ts';
import { rendererSizes } from '../../lib/renderer-sizes.ts';
import type { LocalFunction } from '../../local/template.ts';
import { settled, submit } from '../../start/creations.ts';
import { startService, type RunningService } from '../../start/service.ts';
import type { Output, Row } from '../../terminal/output.ts';
import { functionName } from '../function-name.ts';
import { fakes, vendorNames } from '../vendors/fakes/all-fakes.ts';
import type { FakeVendor } from '../vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf } from '../vendors/fleet.ts';
import { casesOf, type MemoryCase } from './cases.ts';
import { heavyPicture } from './heavy-pictures.ts';
import { startSourceHost } from './source-host.ts';

/** The sizes that are tried, in MB. */
const sizes = [
  192, 256, 320, 384, 448, 512, 576, 640, 768, 896, 1_024, 1_152, 1_280, 1_536, 1_769, 2_048, 2_560, 3_072,
] as const;
/** The peak may take this share of a function's memory. The rest is reserve. */
const mostShare = 0.8;
const mebibyte = 1_048_576;

const childFile = fileURLToPath(new URL('render-child.ts', import.meta.url));
const reportSchema = z.object({ loadedBytes: z.number(), peakBytes: z.number(), cpuMillisEach: z.number() });
const run = promisify(execFile);

const functionOf: Readonly<Record<Renderer, string>> = {
  any: 'RenderImage',
  small: 'RenderImageSmall',
  large: 'RenderImageLarge',
};

type Tell = (line: string) => void;

interface Stage {
  readonly service: RunningService;
  readonly environment: Readonly<Record<string, string>>;
  readonly sourceAt: (bytes: number) => string;
}

export interface MemoryBench {
  /** How many pictures a process renders one after the other. */
  readonly pictures: number;
  readonly output: Output;
  readonly tell: Tell;
}

/** True when each renderer has the memory that its largest order needs. */
export async function benchMemory({ pictures, output, tell }: MemoryBench): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-memory-'));
  const vendors = new Map<string, FakeVendor>();
  for (const name of vendorNames) vendors.set(name, await fakes[name].start(heavyPicture));
  const host = await startSourceHost();
  const environment = environmentOf(vendors);
  const service = await startService({
    folder,
    port: 0,
    strictOutbound: false,
    environment,
    onProgress: tell,
  });
  try {
    await enableAll(service.operator);
    // No execution starts, so that only the measured process renders.
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const stage = { service, environment, sourceAt: host.at };
    const rows: Row[] = [];
    for (const renderer of [...renderers].reverse())
      for (const one of casesOf(renderer)) rows.push(await measureCase(stage, renderer, one, pictures, tell));
    output.list(rows, 'There is no case.');
    return rows.every(({ finding }) => finding === null);
  } finally {
    await service.machine.stop();
    await host.stop();
    await Promise.all([...vendors.values()].map((vendor) => vendor.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Tries larger and larger sizes, until the peak leaves the reserve. */
async function measureCase(
  stage: Stage,
  renderer: Renderer,
  one: MemoryCase,
  pictures: number,
  tell: Tell,
): Promise<Row> {
  const { vendor, resolution, sources, sourceBytes } = one;
  const given = rendererSizes[renderer].memoryMegabytes;
  let least: number | undefined;
  let report: z.infer<typeof reportSchema> | undefined;
  for (const megabytes of sizes) {
    // A process does not need less because it may have more.
    if (report !== undefined && report.peakBytes > megabytes * mebibyte * mostShare) continue;
    report = await render(stage, renderer, one, { megabytes, pictures });
    tell(
      `${vendor} ${resolution}, ${sources} sources, ${megabytes} MB: ${shown(report?.peakBytes) ?? 'died'}`,
    );
    if (report === undefined || report.peakBytes > megabytes * mebibyte * mostShare) continue;
    least = megabytes;
    break;
  }
  return {
    renderer,
    vendor,
    resolution,
    sources,
    source_mb: sourceBytes / 1_000_000,
    loaded_mb: shown(report?.loadedBytes),
    peak_mb: shown(report?.peakBytes),
    least_mb: least ?? null,
    given_mb: given,
    cpu_ms: report === undefined ? null : Math.round(report.cpuMillisEach),
    // With less than 1,769 MB a function has a share of a processor.
    work_ms_given:
      report === undefined ? null : Math.round(report.cpuMillisEach * Math.max(1, 1_769 / given)),
    finding: least === undefined || least > given ? 'too little' : null,
  };
}

function shown(bytes: number | undefined): number | null {
  return bytes === undefined ? null : Math.round(bytes / mebibyte);
}

/** What the process used; undefined when it died. */
async function render(
  { service, environment, sourceAt }: Stage,
  renderer: Renderer,
  one: MemoryCase,
  { megabytes, pictures }: { readonly megabytes: number; readonly pictures: number },
): Promise<z.infer<typeof reportSchema> | undefined> {
  const account = await createAccount(service.operator, { name: one.vendor, balance: '1000' });
  await service.operator.accounts.change(account.id, { providers: [one.vendor] });
  const { key } = await issueKey(service.operator, account, { name: one.vendor });
  const { model, resolution } = one;
  const image_urls = Array.from({ length: one.sources }, () => sourceAt(one.sourceBytes));
  const body = { model, prompt: 'a lake', resolution, ...(one.sources > 0 && { image_urls }) };
  const ids: string[] = [];
  for (let picture = 0; picture < pictures; picture += 1) ids.push(await submit(service, key, body));
  const fn = service.machine.template.functions.find(({ id }) => functionName(id) === functionOf[renderer]);
  if (!fn) throw new Error('the template has no such renderer');
  const limits = [
    `--max-old-space-size=${Math.floor(megabytes * 0.9)}`,
    `--max-semi-space-size=${Math.max(1, Math.floor(megabytes * 0.05))}`,
  ];
  try {
    const variables = { ...fn.environment, ...environment, ...identityOf(fn, service.machine.awsUrl) };
    const { stdout } = await run(
      process.execPath,
      [...limits, childFile, join(fn.codeFolder, 'index.mjs'), ...ids],
      {
        env: variables,
        maxBuffer: 16 * mebibyte,
      },
    );
    for (const id of ids) {
      const { status } = await settled(service, id as Parameters<typeof settled>[1]);
      if (status !== 'completed') throw new Error(`a creation ended as ${status}`);
    }
    return reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } catch (error) {
    // V8 aborts the process when the heap is full.
    if (error instanceof Error && 'signal' in error && error.signal === 'SIGABRT') return undefined;
    throw error;
  }
}

/** What Lambda sets: the region, and the identity by which the local AWS knows the function. */
function identityOf({ roleId }: LocalFunction, awsUrl: string): Readonly<Record<string, string>> {
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: roleId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: awsUrl,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
}
